"""What makes two texts the same abstract."""

from __future__ import annotations

import hashlib
import re
import unicodedata

_WHITE_SPACE = re.compile(r"\s+")


def normalize(text: str) -> str:
    """Return the stored form: Unicode NFC, white space runs collapsed to one space, stripped."""
    return _WHITE_SPACE.sub(" ", unicodedata.normalize("NFC", text)).strip()


def abstract_id(text: str) -> str:
    """Return the first 12 hex digits of SHA-256 over the normalized text."""
    return hashlib.sha256(normalize(text).encode("utf-8")).hexdigest()[:12]
