"""Find the files that a path means, and read the abstracts out of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from rag.corpus.identity import abstract_id, normalize
from rag.corpus.labels import label
from rag.corpus.sentences import split_sentences
from rag.corpus.text import Paragraph, read_paragraphs
from rag.errors import InputError
from rag.records import Abstract

SUFFIXES = (".txt",)


def seeds_path() -> Path:
    """Return the folder of the abstracts that come with the product, in a checkout or in an installed wheel."""
    package = Path(__file__).resolve().parents[1]
    return next(folder for folder in (package / "seeds", package.parent / "seeds") if folder.is_dir())


def find_files(paths: Iterable[Path]) -> list[Path]:
    """Return the text files that `paths` (files and folders) mean, each once, folders searched in order of names.

    Raises `InputError` for a path that does not exist and a folder that holds no text file.
    """
    found: dict[Path, Path] = {}
    for path in paths:
        for file in _below(path):
            found.setdefault(file.resolve(), file)
    return list(found.values())


def read_abstracts(files: Iterable[Path]) -> Iterator[Abstract]:
    """Yield an abstract for every paragraph of the files, twins included, each with its one source.

    Raises `InputError` that names the file (and line) for what cannot be read.
    """
    for file in files:
        for paragraph in read_paragraphs(file):
            yield to_abstract(paragraph)


def to_abstract(paragraph: Paragraph, title: str | None = None) -> Abstract:
    """Give a paragraph its identity, label and sentences."""
    text = normalize(paragraph.text)
    title = normalize(title) if title else None
    return Abstract(
        id=abstract_id(text),
        text=text,
        label=label(text, title),
        sentences=tuple(split_sentences(text)),
        sources=(paragraph.source,),
        collection=paragraph.heading,
        title=title,
    )


def _below(path: Path) -> list[Path]:
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.suffix.lower() in SUFFIXES and file.is_file())
        if not files:
            raise InputError(f"{path}: no text file ({', '.join(SUFFIXES)}) in this folder")
        return files
    if not path.exists():
        raise InputError(f"{path}: no such file or folder")
    if path.suffix.lower() not in SUFFIXES:
        raise InputError(f"{path}: not a kind of file that is read here ({', '.join(SUFFIXES)})")
    return [path]
