"""Settings: layers, mistakes named with their place, and a default.toml that says the truth."""

import re
import tomllib
from pathlib import Path

import pytest

from rag.errors import SettingsError
from rag.settings import Settings, load_settings

DEFAULT = Path(__file__).parents[1] / "config" / "default.toml"


def test_default_toml_holds_every_key_with_its_default() -> None:
    uncommented = re.sub(r"^# (\w+ = )", r"\1", DEFAULT.read_text(encoding="utf-8"), flags=re.M)
    keys = {(section, key) for section, values in tomllib.loads(uncommented).items() for key in values}
    model = {(name, key) for name, section in Settings() for key in type(section).model_fields}
    assert keys == model
    given = tomllib.loads(DEFAULT.read_text(encoding="utf-8"))
    assert Settings.model_validate(given) == Settings()


def test_layers_override_one_another(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text("[server]\nport = 1\nhost = 'a'\n[answer]\nmax_sentences = 2\n")
    environ = {"RAG_CONFIG": str(file), "RAG_SERVER__PORT": "2", "OTHER": "x"}
    settings = load_settings(environ=environ)
    assert (settings.server.host, settings.server.port, settings.answer.max_sentences) == ("a", 2, 2)
    assert load_settings(flags={"server": {"port": 3, "host": None}}, environ=environ).server.port == 3
    assert load_settings(flags={"server": {"port": None}}, environ=environ).server.port == 2


@pytest.mark.parametrize(
    ("toml", "message"),
    [
        ("[server]\nprot = 1", r"mine.toml: server.prot is no setting"),
        ("[sever]\nport = 1", r"mine.toml: sever is no setting"),
        ("[server]\nport = 'x'", r"mine.toml: server.port cannot be used: .*integer"),
        ("[server]\nport = 70000", r"mine.toml: server.port cannot be used: .*65535"),
        ("port = 1", r"mine.toml: \[port\] must be a table"),
        ("[server", r"mine.toml: not TOML"),
    ],
    ids=["unknown key", "unknown section", "wrong type", "out of range", "no table", "broken"],
)
def test_a_mistake_in_a_file_is_named(tmp_path: Path, toml: str, message: str) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(toml)
    with pytest.raises(SettingsError, match=message):
        load_settings(file, environ={})


def test_a_mistake_in_the_environment_is_named() -> None:
    with pytest.raises(SettingsError, match=r"the environment: store.pth is no setting"):
        load_settings(environ={"RAG_STORE__PTH": "x"})


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"nowhere.toml: No such file"):
        load_settings(tmp_path / "nowhere.toml", environ={})
