"""The fields of a record of PubMed's XML and of an entry of an Atom feed, whose elements have no namespace any more."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from lxml import etree  # type: ignore[import-untyped]

from rag.corpus.characters import shifted
from rag.corpus.formats.tagged import without_brackets

_DATES = (
    "Journal/JournalIssue/PubDate/Year", "Journal/JournalIssue/PubDate/MedlineDate", "ArticleDate/Year",
    "Book/PubDate/Year",
)  # fmt: skip
_DOIS = (
    "PubmedData/ArticleIdList/ArticleId[@IdType='doi']", "BookDocument/ArticleIdList/ArticleId[@IdType='doi']",
    "MedlineCitation/Article/ELocationID[@EIdType='doi']",
)  # fmt: skip
_BLOCKS = ("p", "div", "br", "li")


def from_atom(entry: Any) -> dict[str, Any]:
    """Return the fields of an entry, with arXiv's number where the feed is arXiv's."""
    key = _first(entry, "id")
    number = key.partition("arxiv.org/abs/")[2]
    return {
        "text": _first(entry, "summary", "content"),
        "title": _first(entry, "title"),
        "authors": list(_each(entry, "author/name")),
        "year": _first(entry, "published", "updated"),
        "venue": _first(entry, "journal_ref"),
        "doi": _first(entry, "doi"),
        "arxiv": number,
        "id": "" if number else key,
        "url": next((link.get("href", "") for link in entry.findall("link") if link.get("rel") == "alternate"), ""),
        "keywords": [term for category in entry.findall("category") if (term := category.get("term"))],
    }


def from_pubmed(record: Any) -> dict[str, Any]:
    """Return the fields of a `PubmedArticle` or a `PubmedBookArticle`; a structured abstract keeps its labels."""
    book = record.find("BookDocument")
    citation = book if book is not None else record.find("MedlineCitation")
    article = book if book is not None else record.find("MedlineCitation/Article")
    if article is None:
        return {}
    title, venue = _first(article, "ArticleTitle", "Book/BookTitle"), _first(article, "Journal/Title", "Book/BookTitle")
    return {
        "text": " ".join(_labelled(part) for part in article.findall("Abstract/AbstractText")),
        "title": without_brackets(title or _first(article, "VernacularTitle")),
        "authors": _authors(article.findall("AuthorList/Author") or article.findall("Book/AuthorList/Author")),
        "year": _first(article, *_DATES),
        "venue": venue if venue != title else "",
        "doi": _first(record, *_DOIS),
        "pmid": _first(citation, "PMID"),
        "keywords": list(_each(citation, "KeywordList/Keyword")),
    }


def _labelled(part: Any) -> str:
    label, text = part.get("Label", "").strip(" :"), _text(part)
    if not text or label in ("", "UNLABELLED") or text.upper().startswith(f"{label.upper()}:"):
        return text
    return f"{label}: {text}"


def _authors(authors: Iterable[Any]) -> list[str]:
    names = []
    for author in authors:
        parts = (_first(author, "ForeName", "Initials"), _first(author, "LastName"), _first(author, "Suffix"))
        names.append(" ".join(part for part in parts if part) or _first(author, "CollectiveName"))
    return [name for name in names if name]


def _first(element: Any, *paths: str) -> str:
    return next((text for path in paths for text in _each(element, path)), "")


def _each(element: Any, path: str) -> Iterator[str]:
    return (text for found in element.iterfind(path) if (text := _text(found)))


def _text(element: Any) -> str:
    parts = []
    for event, node in etree.iterwalk(element, events=("start", "end")):
        if event == "start":
            parts.append(" " if node.tag in _BLOCKS else "")
            is_shifted = node.tag in ("sup", "sub") and not len(node)
            parts.append(shifted(node.text or "", node.tag == "sup") if is_shifted else node.text or "")
        elif node is not element:
            parts.append(node.tail or "")
    return "".join(parts).strip()
