-- The tables of a memory, in the first step of memory.store.schema, which says why they are as they are. Wall time have
-- source.at, event_from, event_to, since and until of episode, the times in its turns and in citations, and valid_from and
-- valid_to; other times are UTC (docs/times.md).

CREATE TABLE meta(key TEXT PRIMARY KEY, value ANY NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO meta VALUES ('generation', 0), ('next_node', 1), ('next_edge', 1 << 30);
INSERT INTO meta VALUES ('mask_key', lower(hex(randomblob(32))));

CREATE TABLE source(
  id INTEGER PRIMARY KEY AUTOINCREMENT, uri TEXT NOT NULL,
  kind TEXT NOT NULL CHECK(kind IN ('file', 'chat', 'note', 'import')),
  title TEXT NOT NULL, reader TEXT NOT NULL, conversation TEXT,
  policy TEXT NOT NULL DEFAULT 'local' CHECK(policy IN ('local', 'any')),
  at INTEGER, sha256 TEXT, size INTEGER, mtime_ns INTEGER, properties TEXT NOT NULL DEFAULT '{}', ref TEXT,
  t_ingested INTEGER NOT NULL, t_deleted INTEGER, location TEXT NOT NULL DEFAULT '') STRICT;
CREATE UNIQUE INDEX source_live ON source(uri) WHERE t_deleted IS NULL;
CREATE INDEX source_uri ON source(uri);
CREATE INDEX source_mail ON source(at DESC, uri) WHERE reader = 'eml' AND t_deleted IS NULL;
CREATE TABLE source_tag(
  source_id INTEGER NOT NULL REFERENCES source(id) ON DELETE CASCADE, tag TEXT NOT NULL,
  PRIMARY KEY(source_id, tag)) STRICT, WITHOUT ROWID;
CREATE INDEX source_tag_tag ON source_tag(tag);

CREATE TABLE node(
  id INTEGER PRIMARY KEY, kind TEXT NOT NULL CHECK(kind IN ('O', 'T', 'E')),
  label TEXT,
  t_created INTEGER NOT NULL, t_expired INTEGER, expire_reason TEXT) STRICT;
CREATE TABLE episode(
  node_id INTEGER PRIMARY KEY REFERENCES node(id), source_id INTEGER NOT NULL REFERENCES source(id),
  seq INTEGER NOT NULL, text TEXT NOT NULL, sha256 TEXT NOT NULL, words INTEGER NOT NULL, speaker TEXT,
  event_from INTEGER, event_to INTEGER, since INTEGER, until INTEGER, line_from INTEGER, line_to INTEGER,
  line_map TEXT, refs TEXT, turns TEXT) STRICT;
CREATE INDEX episode_source ON episode(source_id, seq);
CREATE INDEX episode_sha ON episode(substr(sha256, 1, 16));
CREATE INDEX episode_since ON episode(since) WHERE since IS NOT NULL;
CREATE INDEX episode_until ON episode(until) WHERE until IS NOT NULL;
CREATE TABLE thesis(
  node_id INTEGER PRIMARY KEY REFERENCES node(id), episode_id INTEGER NOT NULL REFERENCES episode(node_id),
  span_from INTEGER, span_to INTEGER, text TEXT,
  origin TEXT NOT NULL CHECK(origin IN ('sentence', 'rule', 'model')),
  modality TEXT NOT NULL DEFAULT 'asserted', conf REAL NOT NULL DEFAULT 1.0,
  valid_from INTEGER, valid_to INTEGER, superseded_by INTEGER,
  CHECK(text IS NOT NULL OR (span_from IS NOT NULL AND span_to IS NOT NULL))) STRICT;
CREATE INDEX thesis_episode ON thesis(episode_id);
CREATE INDEX thesis_superseded ON thesis(superseded_by) WHERE superseded_by IS NOT NULL;
CREATE TABLE reading(
  node_id INTEGER PRIMARY KEY REFERENCES node(id) ON DELETE CASCADE, title TEXT NOT NULL, body TEXT NOT NULL,
  location TEXT NOT NULL DEFAULT '') STRICT;
CREATE TABLE object(node_id INTEGER PRIMARY KEY REFERENCES node(id), type TEXT) STRICT;
CREATE TABLE alias(
  norm TEXT NOT NULL, surface TEXT NOT NULL, node_id INTEGER NOT NULL REFERENCES node(id), origin TEXT NOT NULL,
  conf REAL NOT NULL DEFAULT 1.0, folded TEXT, PRIMARY KEY(norm, node_id)) STRICT, WITHOUT ROWID;
CREATE INDEX alias_node ON alias(node_id);
CREATE INDEX alias_folded ON alias(folded) WHERE folded IS NOT NULL;

CREATE TABLE predicate(
  id INTEGER PRIMARY KEY, label TEXT UNIQUE NOT NULL, canon_id INTEGER REFERENCES predicate(id)) STRICT;
CREATE INDEX predicate_canon ON predicate(canon_id) WHERE canon_id IS NOT NULL;
CREATE TABLE edge(
  id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL CHECK(kind IN ('rel', 'member', 'mention', 'asserts', 'next', 'open')),
  src INTEGER NOT NULL, dst INTEGER NOT NULL, pred_id INTEGER, role TEXT,
  conf REAL NOT NULL DEFAULT 1.0, n_support INTEGER NOT NULL DEFAULT 1,
  valid_from INTEGER, valid_to INTEGER, t_created INTEGER NOT NULL, t_expired INTEGER,
  expire_reason TEXT, superseded_by INTEGER, modality TEXT) STRICT;
CREATE UNIQUE INDEX edge_live ON edge(src, kind, dst, ifnull(pred_id, 0), ifnull(valid_from, 0))
  WHERE t_expired IS NULL;
CREATE INDEX edge_dst ON edge(dst) WHERE t_expired IS NULL;
CREATE INDEX edge_gone_src ON edge(src) WHERE t_expired IS NOT NULL;
CREATE INDEX edge_gone_dst ON edge(dst) WHERE t_expired IS NOT NULL;
CREATE INDEX edge_superseded ON edge(superseded_by) WHERE superseded_by IS NOT NULL;
CREATE INDEX edge_slot ON edge(pred_id, src, valid_from) WHERE kind = 'rel' AND t_expired IS NULL;
CREATE INDEX edge_rel_src ON edge(src) WHERE kind = 'rel' AND t_expired IS NULL;
CREATE INDEX edge_rel_dst ON edge(dst) WHERE kind = 'rel' AND t_expired IS NULL;

CREATE TABLE provenance(
  item_kind TEXT NOT NULL CHECK(item_kind IN ('edge', 'node')), item_id INTEGER NOT NULL,
  episode_id INTEGER NOT NULL REFERENCES episode(node_id), span_from INTEGER, span_to INTEGER, extractor TEXT,
  PRIMARY KEY(item_kind, item_id, episode_id)) STRICT, WITHOUT ROWID;
CREATE INDEX provenance_episode ON provenance(episode_id);
CREATE TABLE journal(
  id INTEGER PRIMARY KEY, t INTEGER NOT NULL, item_kind TEXT NOT NULL, item_id INTEGER NOT NULL,
  field TEXT NOT NULL, old TEXT, new TEXT, reason TEXT, episode_id INTEGER, revision_id INTEGER) STRICT;
CREATE INDEX journal_item ON journal(item_kind, item_id);
CREATE INDEX journal_revision ON journal(revision_id) WHERE revision_id IS NOT NULL;
CREATE INDEX journal_memory ON journal(item_id) WHERE field = 'memory';
CREATE TABLE revision(
  id INTEGER PRIMARY KEY AUTOINCREMENT, relation TEXT NOT NULL,
  old_kind TEXT NOT NULL CHECK(old_kind IN ('thesis', 'relation')), old_id INTEGER NOT NULL,
  new_kind TEXT NOT NULL CHECK(new_kind IN ('thesis', 'relation')), new_id INTEGER NOT NULL,
  reason TEXT, author TEXT NOT NULL CHECK(author IN ('rule', 'model', 'user')), conf REAL NOT NULL DEFAULT 1.0,
  state TEXT NOT NULL DEFAULT 'open' CHECK(state IN ('open', 'kept', 'undone', 'settled')),
  t INTEGER NOT NULL, t_settled INTEGER) STRICT;
CREATE INDEX revision_state ON revision(state, t);
CREATE INDEX revision_old ON revision(old_id);
CREATE INDEX revision_new ON revision(new_id);
CREATE TABLE extraction(
  episode_id INTEGER PRIMARY KEY REFERENCES episode(node_id) ON DELETE CASCADE, model TEXT NOT NULL,
  t INTEGER NOT NULL) STRICT;

CREATE TABLE embedder(
  id INTEGER PRIMARY KEY, name TEXT UNIQUE NOT NULL, dimension INTEGER NOT NULL CHECK(dimension > 0),
  query_prefix TEXT NOT NULL DEFAULT '', document_prefix TEXT NOT NULL DEFAULT '',
  center BLOB, center_n INTEGER NOT NULL DEFAULT 0, lam_mem REAL,
  active INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE TABLE vec(
  id INTEGER PRIMARY KEY, embedder_id INTEGER NOT NULL REFERENCES embedder(id),
  item_kind TEXT NOT NULL CHECK(item_kind = 'episode'), item_id INTEGER NOT NULL,
  data BLOB, sha256 TEXT NOT NULL,
  UNIQUE(embedder_id, item_kind, item_id)) STRICT;
CREATE TABLE sentence_vec(
  vec_id INTEGER PRIMARY KEY REFERENCES vec(id) ON DELETE CASCADE, data BLOB NOT NULL) STRICT;
CREATE TABLE edge_memory(
  edge_id INTEGER NOT NULL REFERENCES edge(id) ON DELETE CASCADE, slot INTEGER NOT NULL,
  embedder_id INTEGER NOT NULL REFERENCES embedder(id), data BLOB NOT NULL,
  norm REAL NOT NULL CHECK(norm <= 1.000001), n_pos INTEGER NOT NULL DEFAULT 0, n_neg INTEGER NOT NULL DEFAULT 0,
  t_last INTEGER NOT NULL, PRIMARY KEY(edge_id, slot, embedder_id)) STRICT, WITHOUT ROWID;

CREATE TABLE trace(
  id INTEGER PRIMARY KEY AUTOINCREMENT, t INTEGER NOT NULL, question TEXT NOT NULL, as_of INTEGER, plan TEXT,
  tier TEXT, answer TEXT, citations TEXT NOT NULL DEFAULT '[]', missing TEXT NOT NULL DEFAULT '[]', confidence REAL,
  no_answer INTEGER, llm_calls INTEGER NOT NULL DEFAULT 0, tok_in INTEGER NOT NULL DEFAULT 0,
  tok_out INTEGER NOT NULL DEFAULT 0, ms REAL NOT NULL, feedback INTEGER,
  parent_id INTEGER REFERENCES trace(id) ON DELETE SET NULL) STRICT;
CREATE INDEX trace_parent ON trace(parent_id) WHERE parent_id IS NOT NULL;
CREATE TABLE trace_step(
  trace_id INTEGER NOT NULL REFERENCES trace(id) ON DELETE CASCADE, step INTEGER NOT NULL, stage TEXT NOT NULL,
  detail TEXT NOT NULL DEFAULT '{}', ms REAL NOT NULL,
  PRIMARY KEY(trace_id, step)) STRICT, WITHOUT ROWID;
CREATE TABLE trace_edge(
  trace_id INTEGER NOT NULL REFERENCES trace(id) ON DELETE CASCADE, edge_id INTEGER NOT NULL,
  role TEXT NOT NULL CHECK(role IN ('replayed', 'expanded', 'shown', 'cited', 'enhanced', 'penalised')), delta REAL,
  PRIMARY KEY(trace_id, edge_id, role)) STRICT, WITHOUT ROWID;
CREATE INDEX trace_edge_learnt ON trace_edge(edge_id, trace_id) WHERE role IN ('cited', 'enhanced', 'penalised');
CREATE TABLE query(
  trace_id INTEGER NOT NULL REFERENCES trace(id) ON DELETE CASCADE,
  embedder_id INTEGER NOT NULL REFERENCES embedder(id), data BLOB, PRIMARY KEY(trace_id, embedder_id)) STRICT;
CREATE TABLE trace_visit(
  trace_id INTEGER NOT NULL REFERENCES trace(id) ON DELETE CASCADE, visit INTEGER NOT NULL,
  node_id INTEGER NOT NULL, stage TEXT NOT NULL, parent_edge INTEGER, depth INTEGER NOT NULL, score REAL,
  status TEXT NOT NULL CHECK(status IN ('seed', 'selected', 'pruned', 'scanned')),
  PRIMARY KEY(trace_id, visit)) STRICT, WITHOUT ROWID;
CREATE INDEX trace_visit_node ON trace_visit(node_id);
CREATE TABLE train_label(
  trace_id INTEGER NOT NULL REFERENCES trace(id) ON DELETE CASCADE, edge_id INTEGER NOT NULL, y REAL NOT NULL,
  weight REAL NOT NULL, origin TEXT NOT NULL, PRIMARY KEY(trace_id, edge_id, origin)) STRICT, WITHOUT ROWID;
CREATE TABLE ml_model(
  id INTEGER PRIMARY KEY, kind TEXT NOT NULL, t INTEGER NOT NULL, params BLOB NOT NULL, metrics TEXT,
  active INTEGER NOT NULL DEFAULT 0) STRICT;

CREATE TABLE llm_probe(name TEXT PRIMARY KEY, t INTEGER NOT NULL, grades TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE llm_use(
  day TEXT NOT NULL, model TEXT NOT NULL, purpose TEXT NOT NULL, is_local INTEGER NOT NULL,
  calls INTEGER NOT NULL, failed INTEGER NOT NULL, tok_read INTEGER NOT NULL, tok_written INTEGER NOT NULL,
  tok_cached INTEGER NOT NULL, ms REAL NOT NULL,
  PRIMARY KEY(day, model, purpose, is_local)) STRICT, WITHOUT ROWID;

CREATE TABLE conversation(
  id INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT NOT NULL, t_created INTEGER NOT NULL,
  t_updated INTEGER NOT NULL) STRICT;
CREATE TABLE message(
  id INTEGER PRIMARY KEY AUTOINCREMENT, conversation_id INTEGER NOT NULL REFERENCES conversation(id) ON DELETE CASCADE,
  role TEXT NOT NULL CHECK(role IN ('user', 'memory')), text TEXT NOT NULL,
  state TEXT NOT NULL DEFAULT 'complete' CHECK(state IN ('complete', 'partial')), t INTEGER NOT NULL,
  trace_id INTEGER REFERENCES trace(id) ON DELETE SET NULL, no_answer INTEGER NOT NULL DEFAULT 0,
  citations TEXT NOT NULL DEFAULT '[]') STRICT;
CREATE INDEX message_conversation ON message(conversation_id, id);
CREATE INDEX message_trace ON message(trace_id) WHERE trace_id IS NOT NULL;

CREATE TABLE job(
  id INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, dedupe_key TEXT NOT NULL, payload TEXT NOT NULL,
  state TEXT NOT NULL DEFAULT 'queued' CHECK(state IN ('queued', 'leased', 'done', 'dead')),
  attempts INTEGER NOT NULL DEFAULT 0, not_before INTEGER NOT NULL, boot_id TEXT,
  last_error TEXT, priority INTEGER NOT NULL DEFAULT 0, created INTEGER NOT NULL) STRICT;
CREATE UNIQUE INDEX job_live ON job(kind, dedupe_key) WHERE state IN ('queued', 'leased');
CREATE INDEX job_next ON job(priority DESC, id) WHERE state IN ('queued', 'leased');
CREATE TABLE skip(uri TEXT PRIMARY KEY, reason TEXT NOT NULL, t INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE folder(
  id INTEGER PRIMARY KEY AUTOINCREMENT, path TEXT UNIQUE NOT NULL,
  policy TEXT NOT NULL DEFAULT 'local' CHECK(policy IN ('local', 'any')), added INTEGER NOT NULL,
  options TEXT NOT NULL DEFAULT '{}') STRICT;
CREATE TABLE forgotten(mark TEXT PRIMARY KEY, t INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE secret(
  source_id INTEGER NOT NULL REFERENCES source(id) ON DELETE CASCADE, placeholder TEXT NOT NULL, kind TEXT NOT NULL,
  value TEXT NOT NULL, line INTEGER, PRIMARY KEY(source_id, placeholder)) STRICT, WITHOUT ROWID;
CREATE INDEX secret_placeholder ON secret(placeholder);
CREATE TABLE seal(kind INTEGER NOT NULL, id INTEGER NOT NULL, crc INTEGER NOT NULL, PRIMARY KEY(kind, id)) STRICT, WITHOUT ROWID;
CREATE TABLE synced(key TEXT PRIMARY KEY, seen TEXT NOT NULL, local TEXT NOT NULL) STRICT, WITHOUT ROWID;

CREATE VIEW episode_content(id, title, body, location) AS
  SELECT n.id, ifnull(n.label, ''), e.text, s.location FROM episode e JOIN node n ON n.id = e.node_id
  JOIN source s ON s.id = e.source_id WHERE n.t_expired IS NULL;
CREATE VIEW thesis_content(id, body) AS
  SELECT n.id, ifnull(t.text, substr(e.text, t.span_from + 1, t.span_to - t.span_from))
  FROM thesis t JOIN node n ON n.id = t.node_id JOIN episode e ON e.node_id = t.episode_id WHERE n.t_expired IS NULL;
CREATE VIEW episode_reading(id, title, body, location) AS
  SELECT c.id, ifnull(r.title, c.title), ifnull(r.body, c.body), ifnull(r.location, c.location)
  FROM episode_content c LEFT JOIN reading r ON r.node_id = c.id;
-- Mn and Mc are the vowel signs of Hindi and Thai, without which their words fall apart.
CREATE VIRTUAL TABLE episode_text USING fts5(
  title, body, location, content='episode_reading', content_rowid='id', tokenize='porter unicode61 remove_diacritics 2 categories ''L* N* Co Mn Mc''');
INSERT INTO episode_text(episode_text, rank) VALUES ('secure-delete', 1);
