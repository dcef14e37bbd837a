"""The house's arrows: a room imports only from the rooms below it, and nothing heavy is loaded for help."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BOTTOM = {"rag.errors", "rag.records", "rag.settings"}
INDEX = BOTTOM | {"rag.corpus", "rag.index"}
CHAIN = INDEX | {"rag.dialogue", "rag.reader", "rag.chain"}
MAY_IMPORT: dict[str, set[str]] = {
    "rag.errors": set(),
    "rag.records": set(),
    "rag.settings": {"rag.errors"},
    "rag.filters": BOTTOM,
    "rag.corpus": BOTTOM,
    "rag.index": INDEX,
    "rag.dialogue": INDEX,
    "rag.reader": INDEX,
    "rag.chain": CHAIN,
    "rag.evaluation": CHAIN | {"rag"},
    "rag.training": CHAIN,
    "rag.terminal": CHAIN,
    "rag.cli": CHAIN | {"rag.cli_eval", "rag.cli_library", "rag.cli_options", "rag.terminal", "ui"},
    "rag.cli_eval": INDEX | {"rag.cli_options", "rag.evaluation", "rag.terminal"},
    "rag.cli_library": INDEX | {"rag.cli_options", "rag.terminal"},
    "rag.cli_options": BOTTOM | {"rag.filters"},
    "ui": CHAIN | {"rag", "rag.evaluation", "rag.filters"},
}


def room(module: str) -> str:
    parts = module.split(".")
    return parts[0] if parts[0] == "ui" else ".".join(parts[:2])


def imports(file: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: relative import"
            found.add(node.module or "")
    return {name for name in found if name.split(".")[0] in ("rag", "ui")}


# rag/__init__.py is the public API: it names every room's best parts
FILES = sorted(
    file
    for top in ("rag", "ui")
    for file in (ROOT / top).rglob("*.py")
    if str(file.relative_to(ROOT)) not in ("rag/__init__.py", "rag/__main__.py")
)


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(ROOT)))
def test_imports_go_one_way(file: Path) -> None:
    own = ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    allowed = MAY_IMPORT[room(own)] | {room(own)}
    assert {room(name) for name in imports(file)} <= allowed


def test_every_room_has_its_rule() -> None:
    rooms = {room(".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")) for file in FILES}
    assert rooms <= set(MAY_IMPORT)


def test_help_loads_nothing_heavy() -> None:
    code = "import sys; sys.argv = ['rag', '--help']\nfrom rag.cli import main\ntry: main()\nexcept SystemExit: pass\n"
    code += "heavy = {'torch', 'chromadb', 'gradio', 'llama_index', 'numpy', 'pydantic'} & set(sys.modules)\n"
    code += "assert not heavy, heavy"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "ingest" in done.stdout
