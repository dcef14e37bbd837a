"""What makes two texts the same abstract."""

from __future__ import annotations

import hashlib
import re
import unicodedata
import zlib

ID_CHARACTERS = 12

_WHITE_SPACE = re.compile(r"\s+")
_PLACE = re.compile(r"(?:#[^#]*|:\d+(?:~\d+)?)$", re.S)


def normalize(text: str) -> str:
    """Return the stored form: Unicode NFC, white space runs collapsed to one space, stripped."""
    return _WHITE_SPACE.sub(" ", unicodedata.normalize("NFC", text)).strip()


def abstract_id(text: str) -> str:
    """Return the first 12 hex digits of SHA-256 over the normalized text."""
    return hashlib.sha256(normalize(text).encode("utf-8")).hexdigest()[:ID_CHARACTERS]


def is_held_out(key: str) -> bool:
    """Tell whether training data's abstract of this key is of the fifth that no weights are ever fitted to."""
    return zlib.crc32(key.encode("utf-8")) % 10 >= 8


def file_of(source: str) -> str:
    """Return the file's name of a source: `a.txt` of `a.txt#3`, `b.jsonl` of `b.jsonl:12`."""
    return _PLACE.sub("", source)
