"""What makes two texts the same abstract."""

from __future__ import annotations

import hashlib
import re
import unicodedata
import zlib

_WHITE_SPACE = re.compile(r"\s+")


def normalize(text: str) -> str:
    """Return the stored form: Unicode NFC, white space runs collapsed to one space, stripped."""
    return _WHITE_SPACE.sub(" ", unicodedata.normalize("NFC", text)).strip()


def abstract_id(text: str) -> str:
    """Return the first 12 hex digits of SHA-256 over the normalized text."""
    return hashlib.sha256(normalize(text).encode("utf-8")).hexdigest()[:12]


def is_held_out(key: str) -> bool:
    """Tell whether training data's abstract of this key is of the fifth that no weights are ever fitted to."""
    return zlib.crc32(key.encode("utf-8")) % 10 >= 8
