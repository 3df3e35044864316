"""The memory file. All SQL of the product is in this folder, so that another store can replace it.

    connect      the driver, its errors, visibility, values       schema       the tables, steps, backup before one
    store        Store: reading and writing                       check, seals, files, forget   maintenance

    sources                      origins of texts                  vectors, text   indexes that can be rebuilt
    episodes, graph, facts       contents                          traces, conversations, jobs   activity
    relations, revisions         facts and their changes           queries, edge_memory   learning

Verbs take a connection of `store.reading()` or `store.writing()` first, and times as milliseconds UTC.
"""
