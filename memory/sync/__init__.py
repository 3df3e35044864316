"""One memory on several computers, through a folder that another program carries from one to the other (docs/sync.md).

    sync.py      a round: the changes of this memory, and those of the others
    kinds.py     the kinds of items, and how the memory is made to match
    notes.py     a note as JSON
    document.py  the CRDT document, and who is right
    folder.py    encrypted files, and the words of their key

Needs the extra `sync` (pycrdt, cryptography, mnemonic); nothing else imports this package before it is used."""
