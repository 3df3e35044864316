"""The memory file. All SQL of the product is in this folder, so that another store can take its place.

    connect      the driver, its settings, its errors as ours      rows         what is seen when, values as columns
    schema       the tables, steps, backup before an upgrade
    store        Store: who reads and writes when                  backup, check, forget, metrics   keeping it

    sources                      where text comes from             vectors, text   indexes that can be rebuilt
    episodes, graph, facts       what it says                      traces, conversations, jobs   what was done with it
    relations, revisions         what holds, what replaced it      queries, edge_memory, training   what is learnt of it

Verbs take a connection of `store.reading()` or `store.writing()` first, and times as milliseconds UTC.
"""
