"""Where abstracts are kept and found: encoder, catalog, vectors, lexical index."""
