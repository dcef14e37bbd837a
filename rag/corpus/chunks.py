"""Chunks: runs of whole sentences, small enough for one vector to mean something."""

from __future__ import annotations

from collections.abc import Sequence

from rag.records import Abstract, Chunk


def chunk(abstract: Abstract, word_pieces: Sequence[int], limit: int) -> list[Chunk]:
    """Cut an abstract into chunks of whole sentences with at most `limit` word pieces each.

    `word_pieces` holds one count a sentence. A sentence above the limit is a chunk of its own.
    """
    chunks: list[Chunk] = []
    first = 0
    for last in range(1, len(abstract.sentences) + 1):
        full = last == len(abstract.sentences) or sum(word_pieces[first : last + 1]) > limit
        if full:
            start, end = abstract.sentences[first][0], abstract.sentences[last - 1][1]
            chunks.append(Chunk(abstract.id, len(chunks), first, last, start, end))
            first = last
    return chunks
