"""An ingest that is killed at any moment leaves a store that the next run makes the same as if nothing had happened."""

import json
import os
import random
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from time import sleep

import numpy as np
import pytest

from rag.index.doctor import examine
from rag.index.encoder import Encoder
from rag.index.ingest import ingest
from rag.index.store import Store
from rag.settings import load_settings


def run(source: Path, store: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "rag", "ingest", str(source), "--store", str(store)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.fixture(scope="session")
def animals(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of 300 abstracts."""
    file = tmp_path_factory.mktemp("animals") / "animals.jsonl"
    sentence = (
        "Animal {0} was seen {1} times in the {2} years of the study, and never ate more than {3} grams of grass."
    )
    with file.open("w") as out:
        for n in range(300):
            text = " ".join(sentence.format(n, n + k, k, n * k) for k in range(1, 6))
            out.write(json.dumps({"_id": f"k{n}", "title": f"On animal {n}", "text": text}) + "\n")
    return file


def test_killed_ingests_end_as_a_clean_one(tmp_path: Path, encoder: Encoder, animals: Path) -> None:
    with closing(Store.open(tmp_path / "clean", encoder)) as store:
        ingest(store, [animals], 128)
    random_ = random.Random(6)
    killed = 0
    while killed < 6:
        process = run(animals, tmp_path / "killed")
        sleep(random_.uniform(0.7, 4.0))
        killed += process.poll() is None
        process.send_signal(signal.SIGKILL)
        process.communicate()
        if process.returncode == 0:  # it was done before it could be killed: begin anew
            os.rename(tmp_path / "killed", tmp_path / f"done-{killed}")
    _, errors = run(animals, tmp_path / "killed").communicate()
    assert errors == ""
    with (
        closing(Store.open(tmp_path / "clean", encoder)) as clean,
        closing(Store.open(tmp_path / "killed", encoder)) as mended,
    ):
        assert {one.id: one for one in clean.abstracts()} == {one.id: one for one in mended.abstracts()}
        ours, theirs = ({chunk: vector for chunk, _, _, vector in store.vectors.stored()} for store in (clean, mended))
        assert ours.keys() == theirs.keys()
        assert min(float(ours[chunk] @ theirs[chunk]) for chunk in ours) > 0.9999
        for one in clean.catalog.ids():
            assert np.allclose(clean.catalog.vectors(one), mended.catalog.vectors(one), atol=1e-3)
    settings = load_settings(flags={"store": {"path": tmp_path / "killed"}}, environ={})
    assert [finding for finding in examine(settings) if not finding.sound] == []


def test_of_two_ingests_at_once_one_finishes_and_the_other_says_who_holds_the_store(
    tmp_path: Path, animals: Path
) -> None:
    first = run(animals, tmp_path / "store")
    while not (tmp_path / "store" / "lock.pid").exists():
        sleep(0.05)
    second = run(animals, tmp_path / "store")
    _, errors = second.communicate(timeout=30)
    assert second.returncode == 3
    assert f"process {first.pid} is writing to it; try again when it is done" in errors
    out, _ = first.communicate()
    assert first.returncode == 0
    assert "300 added" in out
