"""Files in, abstracts out: formats, identity, sentences, labels, chunks."""
