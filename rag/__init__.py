"""Ask questions about a pile of scientific abstracts, and get answers that cite the exact sentence.

from rag import Chain, load_settings

chain = Chain.open(load_settings())
print(chain.ask("how many bits per parameter do GPT-style models memorise?").text)
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rag.chain.chain import Chain as Chain
    from rag.chain.retrieve import HybridRetriever as HybridRetriever
    from rag.errors import AskAbstractsError as AskAbstractsError
    from rag.index.embedding import Encoder as Encoder
    from rag.index.ingest import ingest as ingest
    from rag.index.store import Store as Store
    from rag.records import Abstract as Abstract
    from rag.records import Answer as Answer
    from rag.records import Turn as Turn
    from rag.records import Where as Where
    from rag.settings import Settings as Settings
    from rag.settings import load_settings as load_settings

_HOMES = {
    "Abstract": "rag.records",
    "Answer": "rag.records",
    "AskAbstractsError": "rag.errors",
    "Chain": "rag.chain.chain",
    "Encoder": "rag.index.embedding",
    "HybridRetriever": "rag.chain.retrieve",
    "Settings": "rag.settings",
    "Store": "rag.index.store",
    "Turn": "rag.records",
    "Where": "rag.records",
    "ingest": "rag.index.ingest",
    "load_settings": "rag.settings",
}
__all__ = list(_HOMES)

try:
    __version__ = version("askabstracts")
except PackageNotFoundError:  # run from a checkout that is not installed
    __version__ = "0"


def __getattr__(name: str) -> Any:
    """Load a public name from its home at its first use: torch and Chroma take seconds to import."""
    if name not in _HOMES:
        raise AttributeError(f"module 'rag' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
