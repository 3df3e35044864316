// The daemon's API, as the page may ask it. What comes from notes has no control characters and no direction marks:
// they could make a line look like another one.

const KEY = "palimpsest-key";
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Why something could not be done, in a sentence, and what to do. */
export class Refused extends Error {
  constructor({ code, message, remedy = "" }) {
    super(message);
    this.code = code;
    this.remedy = remedy;
  }
}

const GONE = {
  code: "gone",
  message: "The memory does not answer: its daemon has stopped, or the page was closed.",
  remedy: "pal web",
};

/** Tells the page, with a Refused when nothing can be asked any more, and with null when it can again. */
const tell = (problem) => document.dispatchEvent(new CustomEvent("palimpsest:gone", { detail: problem }));

export const clean = (text) => text.replace(UNSEEN, "");

function parse(text) {
  return JSON.parse(text, (name, value) => (typeof value === "string" && name !== "uri" ? clean(value) : value));
}

/** Turns the token of a link into a session. Throws Refused. */
export async function openSession(token) {
  const response = await send("/session", { method: "POST", body: { token } });
  localStorage.setItem(KEY, parse(await response.text()).key);
}

export const hasSession = () => localStorage.getItem(KEY) !== null;

/** What the daemon answers to a question that changes nothing. `background`: nobody has done anything. */
export async function get(path, query = {}, { signal, background } = {}) {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== "");
  const search = given.length ? `?${new URLSearchParams(given)}` : "";
  const response = await send(`/api${path}${search}`, { signal, background });
  return parse(await response.text());
}

export async function post(path, body, { signal } = {}) {
  const response = await send(`/api${path}`, { method: "POST", body, signal });
  return parse(await response.text());
}

/** The events of a stream, as they come. Throws Refused, also for one that breaks off. */
export async function* stream(path, body, signal) {
  const response = await send(`/api${path}`, { method: "POST", body, signal });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read().catch((error) => {
      if (signal?.aborted) throw error;
      throw new Refused(GONE);
    });
    if (done) return;
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      const event = parse(line);
      if (event.type === "Failed") throw new Refused(event);
      yield event;
    }
  }
}

async function send(url, { method = "GET", body, signal, background } = {}) {
  const headers = { "X-Palimpsest-Key": localStorage.getItem(KEY) ?? "" };
  if (background) headers["X-Palimpsest-Background"] = "1";
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let response;
  try {
    response = await fetch(url, {
      method,
      headers,
      signal,
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    const gone = new Refused(GONE);
    tell(gone);
    throw gone;
  }
  if (response.ok) {
    tell(null);
    return response;
  }
  const refused = new Refused(await describe(response));
  if (refused.code === "no_session") {
    localStorage.removeItem(KEY);
    tell(refused);
  }
  throw refused;
}

async function describe(response) {
  try {
    return parse(await response.text());
  } catch {
    return { code: "internal", message: `The daemon answered ${response.status} without a reason.`, remedy: "" };
  }
}
