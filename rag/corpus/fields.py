"""From a file's fields to a record: which name means what, and how authors, years, keys and addresses are written."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

from rag.corpus.characters import bad_byte, from_html, from_latex
from rag.corpus.identity import ID_CHARACTERS, abstract_id, normalize
from rag.corpus.record import FIELD_NAMES, Raw, Record, Skipped
from rag.errors import InputError

MAX_CHARACTERS = 100_000
"""No abstract is longer; a text that is has lost its bounds, or is no abstract."""

MAX_AUTHORS = 500
MAX_NAME = 300

NAMES: Mapping[str, tuple[str, ...]] = {
    "text": ("abstract", "text", "summary", "abstract note", "abstracttext", "ab", "contents"),
    "title": ("title", "article title", "document title", "papertitle", "name", "ti"),
    "authors": ("authors", "author", "author full names", "author names", "creators", "au", "af"),
    "year": ("year", "publication year", "published", "date", "publication_date", "publicationdate", "publicationyear",
             "issued", "py", "update_date", "cdate", "pub_date"),
    "venue": ("venue", "journal", "publication title", "source title", "container-title", "journal-ref", "journal_ref",
              "booktitle", "journal/book", "conference", "publication", "journaltitle", "so"),
    "url": ("url", "link", "site", "html_url", "paperurl", "paper_url", "uri", "ur"),
    "keywords": ("keywords", "author keywords", "keyword", "tags", "manual tags", "categories", "fieldsofstudy", "de",
                 "kw"),
    "doi": ("doi", "doi link", "di"),
    "pmid": ("pmid", "pubmed id", "pubmedid", "pubmed", "pm"),
    "arxiv": ("arxiv", "arxiv_id", "arxivid", "eprint", "arxiv id"),
    "openreview": ("openreview", "forum", "openreview_id"),
    "id": ("_id", "id", "key", "eid", "ut", "paperid", "corpusid", "citation-key", "bibtex_key", "unique-id"),
}  # fmt: skip
"""The product's names, and for each those that files use for it, in lower case, the likeliest first."""

_DOI = re.compile(r"10\.\d{4,9}/[^\s\"<>]+")
_ARXIV = re.compile(r"(?<![\w.])((?:\d{4}\.\d{4,5}|[a-z\-]+(?:\.[A-Z]{2})?/\d{7})(?:v\d+)?)(?![\w])", re.I)
_VERSION = re.compile(r"v\d+$")
_PMID = re.compile(r"(?:https?://[^\s]*pubmed[^\s]*/|pmid:?\s*)?(\d{1,9})/?", re.I)
_YEAR = re.compile(r"(?<!\d)(1[6-9]\d\d|20\d\d)(?!\d)")
_NOBODY = re.compile(r"^(?:and )?(?:others|et al\.?|anonymous|\[no author name available\])$", re.I)


def rename(pairs: Iterable[str]) -> dict[str, str]:
    """Return file's name -> our name from options such as `text=abstract`. Raises `InputError` for what is none."""
    chosen = {}
    for pair in pairs:
        ours, separator, theirs = pair.partition("=")
        if not separator or not theirs.strip() or ours.strip() not in FIELD_NAMES:
            raise InputError(f"--field {pair}: expected NAME=THEIRS with a NAME of {', '.join(FIELD_NAMES)}")
        chosen[theirs.strip().casefold()] = ours.strip()
    return chosen


def translate(given: Mapping[str, Any], chosen: Mapping[str, str]) -> dict[str, Any]:
    """Return the fields under the product's names: those that `chosen` names first, then by the table."""
    theirs = {str(name).strip().lstrip("\ufeff").casefold(): value for name, value in given.items()}
    fields = {ours: theirs[name] for name, ours in chosen.items() if theirs.get(name) not in (None, "", [])}
    for ours, names in NAMES.items():
        for name in names:
            if ours not in fields and name not in chosen and theirs.get(name) not in (None, "", []):
                fields[ours] = theirs[name]
    return fields


def to_record(raw: Raw) -> Record | Skipped:
    """Clean the fields of a record, or say why it is none."""
    fields = {name: _flat(value) for name, value in raw.fields.items()}
    for name, value in fields.items():
        for text in value if isinstance(value, list) else [value]:
            if (byte := bad_byte(text)) is not None:
                return Skipped(raw.place, f"byte 0x{byte:02x} in its {name} is not of the file's encoding (--encoding)")
            if "\0" in text:
                return Skipped(raw.place, f"its {name} holds a NUL: this is no text")
    given = _joined(fields.get("text", ""))
    if len(given) > MAX_CHARACTERS:
        return Skipped(raw.place, f"its abstract has {len(given):,} characters (at most {MAX_CHARACTERS:,})")
    text = normalize(given) if raw.is_clean or _is_ours(given, fields) else _clean(given)
    if not text:
        return Skipped(raw.place, "it has no abstract")
    keys = _keys(fields)
    return Record(
        text=text,
        place=raw.place,
        heading=normalize(raw.heading),
        title=_clean(_joined(fields.get("title", ""))[:1000]) or None,
        authors=tuple(authors(fields.get("authors", "")))[:MAX_AUTHORS],
        year=year(_joined(fields.get("year", ""))),
        venue=_clean(_joined(fields.get("venue", ""))[:500]) or None,
        url=_url(fields, keys),
        keys=tuple(keys),
        keywords=tuple(_split_keywords(fields.get("keywords", ""))),
    )


def authors(value: str | list[str]) -> list[str]:
    """Return authors' names as they are read, `Ada Lovelace`, from a list or from one text in any common form."""
    if isinstance(value, list):
        names = value
    else:
        value = " ".join(value.split())
        pieces = value.split(";") if ";" in value else value.split(" and ")
        names = pieces if ";" in value else [part for piece in pieces for part in _by_commas(piece)]
    clean = (_turned(_clean(re.sub(r"\s*\([\d;, ]*\)$", "", name[:MAX_NAME]))) for name in names)
    return list(dict.fromkeys(name for name in clean if name and not _NOBODY.match(name)))


def year(text: str) -> int | None:
    """Return the first year in `text`, or None."""
    found = _YEAR.search(text)
    return int(found[1]) if found else None


def address(keys: Iterable[str]) -> str | None:
    """Return where a record with such keys is published, by the first key that says so."""
    places = {"doi": "https://doi.org/", "arxiv": "https://arxiv.org/abs/", "pmid": "https://pubmed.ncbi.nlm.nih.gov/",
              "openreview": "https://openreview.net/forum?id="}  # fmt: skip
    named = dict(key.split(":", 1) for key in reversed(list(keys)) if ":" in key)
    return next((places[kind] + named[kind] for kind in places if kind in named), None)


def _by_commas(text: str) -> list[str]:
    """Split `A. Smith, B. Jones`, but leave `Smith, Ada` whole."""
    parts = [part.strip() for part in text.split(",") if part.strip()]
    turned = len(parts) == 2 and (" " not in parts[0] or re.fullmatch(r"(?:[A-Z][.\-]?\s*){1,4}", parts[1]))
    return [text] if turned else parts


def _turned(name: str) -> str:
    family, comma, given = name.partition(",")
    suffix, more, rest = given.partition(",")
    if more:  # BibTeX's "Family, Jr., Given"
        return f"{rest.strip()} {family.strip()} {suffix.strip()}".strip()
    return f"{given.strip()} {family.strip()}".strip() if comma else name.strip()


def _keys(fields: Mapping[str, str | list[str]]) -> list[str]:
    url, own = _joined(fields.get("url", "")), _joined(fields.get("id", "")).strip()
    keys = []
    if found := _DOI.search(_joined(fields.get("doi", "")) or (url if "doi.org/" in url else "")):
        keys.append(f"doi:{_trimmed(found[0]).lower()}")
    elsewhere = own if _ARXIV.fullmatch(own) else url if "arxiv.org/" in url else ""
    arxiv = _joined(fields.get("arxiv", "")) or elsewhere
    if found := _ARXIV.search(arxiv.removesuffix(".pdf")):
        keys.append(f"arxiv:{_VERSION.sub('', found[1])}")
    if found := _PMID.fullmatch(_joined(fields.get("pmid", "")).strip()):
        keys.append(f"pmid:{found[1]}")
    elsewhere = url.partition("forum?id=")[2] if "openreview.net/" in url else ""
    forum = _joined(fields.get("openreview", "")).strip() or elsewhere
    if re.fullmatch(r"[\w\-]{4,40}", forum):
        keys.append(f"openreview:{forum}")
    if own and len(own) <= 200 and not any(key.endswith(f":{own}") for key in keys):
        keys.append(own)
    return keys


def _trimmed(doi: str) -> str:
    """Return a DOI without what stood behind it in a sentence; a bracket that it opens itself is its own."""
    while doi[-1] in ".,;" or (doi[-1] == ")" and doi.count(")") > doi.count("(")):
        doi = doi[:-1]
    return doi


def _url(fields: Mapping[str, str | list[str]], keys: list[str]) -> str | None:
    value = fields.get("url", "")
    for given in value if isinstance(value, list) else value.split():
        try:
            parts = urlsplit(given)
        except ValueError:
            continue
        if parts.scheme in ("http", "https") and parts.hostname and len(given) <= 2000:
            return given
    return address(keys)


def _is_ours(text: str, fields: Mapping[str, str | list[str]]) -> bool:
    """Tell a text that was exported from a store: its id is its hash, so it stands as it is meant."""
    own = _joined(fields.get("id", ""))
    return len(own) == ID_CHARACTERS and abstract_id(text) == own


def _split_keywords(value: str | list[str]) -> list[str]:
    parts = value if isinstance(value, list) else re.split(r"[;|]" if re.search(r"[;|]", value) else ",", value)
    return list(dict.fromkeys(word for part in parts if (word := _clean(part)[:100])))[:100]


def _flat(value: Any) -> str | list[str]:
    """Return text, or a list of texts, from what JSON may hold: `{"value": …}`, `{"name": …}`, numbers, lists."""
    if isinstance(value, Mapping):
        if "date-parts" in value:
            return _joined(_flat(value["date-parts"]))
        if "family" in value or "given" in value or "last" in value:
            family = value.get("family") or value.get("last") or ""
            return " ".join(str(part) for part in (value.get("given") or value.get("first"), family) if part)
        for name in ("value", "name", "literal", "raw", "text", "fullname"):
            if name in value:
                return _flat(value[name])
        return ""
    if isinstance(value, list | tuple):
        return [text for one in value if (text := _joined(_flat(one)))]
    return "" if value is None or isinstance(value, bool) else str(value)


def _joined(value: str | list[str]) -> str:
    return value if isinstance(value, str) else " ".join(value)


def _clean(text: str) -> str:
    return normalize(from_latex(from_html(text)))
