"""Synchronises one memory between several computers through a shared folder, which another program copies
(docs/sync.md).

Needs the extra `sync` (pycrdt, cryptography, mnemonic); imported on first use only."""
