"""A run: the answers of one system to one dataset, in a folder of its own. A killed run goes on where it was.

run.json            what was run: dataset, settings, encoder, version, machine
questions.jsonl     the questions as they were asked
answers.jsonl       one answer object a line, with the 20 nearest abstracts; a refusal also with what it held back
abstracts.jsonl     the abstracts that are relevant or cited: enough to score without a store or a model
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from platformdirs import user_cache_path

import rag
from rag.chain.chain import Chain
from rag.errors import InputError
from rag.evaluation.datasets import Dataset, Question
from rag.evaluation.files import read_answers, write_json, write_jsonl
from rag.index.encoder import Encoder
from rag.index.ingest import Progress, add_abstracts, silent
from rag.index.store import Store
from rag.settings import Settings

RANKED = 20
SAME_RUN = ("dataset_fingerprint", "corpus_fingerprint", "settings", "version", "retrieval_only")
"""What must agree for a run to be resumed."""

Ticks = Callable[[Sequence[Question]], Iterable[Question]]


def open_chain(dataset: Dataset, settings: Settings, progress: Progress = silent) -> Chain:
    """Open the chain over the user's store, or over a store of the dataset's own, made once and kept by content."""
    if dataset.abstracts is not None:
        key = f"{dataset.fingerprint}-{hashlib.sha256(settings.encoder.model.encode()).hexdigest()[:8]}"
        place = user_cache_path("askabstracts") / "datasets" / key
        settings = settings.model_copy(update={"store": settings.store.model_copy(update={"path": place})})
        store = Store.open(place, Encoder(settings.encoder))
        if len(store) < len(dataset.abstracts):
            add_abstracts(store, dataset.abstracts, settings.chunks.max_word_pieces, progress)
        store.close()
    chain = Chain.open(settings)
    dataset.check({abstract.id: abstract.text for abstract in chain.store.abstracts()})
    return chain


def generate(dataset: Dataset, chain: Chain, folder: Path, retrieval_only: bool = False, ticks: Ticks = iter) -> None:
    """Answer every question that the folder has no answer to yet. Raises `InputError` where it holds another run."""
    folder.mkdir(parents=True, exist_ok=True)
    about = _about(dataset, chain, retrieval_only)
    _check_same(folder / "run.json", about)
    write_json(folder / "run.json", about)
    write_jsonl(folder / "questions.jsonl", [_as_record(question) for question in dataset.questions])
    done = read_answers(folder / "answers.jsonl", repair=True)
    begun = time.perf_counter()
    with (folder / "answers.jsonl").open("a", encoding="utf-8", newline="\n") as answers:
        for question in ticks([question for question in dataset.questions if question.id not in done]):
            answers.write(json.dumps(_answer(chain, question, retrieval_only), ensure_ascii=False) + "\n")
            answers.flush()
    write_json(folder / "run.json", about | {"seconds": round(time.perf_counter() - begun, 2)})
    _keep_abstracts(dataset, chain, folder)


def _answer(chain: Chain, question: Question, retrieval_only: bool) -> dict[str, Any]:
    try:
        if retrieval_only:
            return {"id": question.id, "ranking": _ranking(chain, question.question)}
        answer = chain.ask(question.question, question.history)
        held_back = None if answer.answerable else chain.ask(question.question, question.history, refuse_below=0.0)
        return {
            "id": question.id,
            **answer.as_dict(),
            "ranking": _ranking(chain, answer.standalone_question),
            "held_back": held_back and held_back.as_dict(),
        }
    except Exception as error:  # one question's failure is counted, and the run goes on
        return {"id": question.id, "error": f"{type(error).__name__}: {error}"}


def _ranking(chain: Chain, text: str) -> list[dict[str, Any]]:
    passages = chain.retriever.passages(text, RANKED)
    return [{"abstract_id": p.reading.abstract.id, "score": round(p.score, 6)} for p in passages]


def _about(dataset: Dataset, chain: Chain, retrieval_only: bool) -> dict[str, Any]:
    ids = ",".join(sorted(chain.store.catalog.ids()))
    settings = chain.settings.model_dump(mode="json", exclude={"store", "server"})
    return {
        "dataset": dataset.name,
        "dataset_fingerprint": dataset.fingerprint,
        "corpus_fingerprint": hashlib.sha256(ids.encode()).hexdigest()[:16],
        "questions": len(dataset.questions),
        "retrieval_only": retrieval_only,
        "encoder": chain.store.encoder.model_name,
        "answerer": chain.answerer.name,
        "model": chain.answerer.model,
        "version": rag.__version__,
        "seed": 0,
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "seconds": None,
        "machine": {"python": platform.python_version(), "system": platform.platform(), "cpus": os.cpu_count()},
        "settings": settings,
    }


def _check_same(file: Path, about: dict[str, Any]) -> None:
    if not file.exists():
        return
    before = json.loads(file.read_text(encoding="utf-8"))
    for name in SAME_RUN:
        if before.get(name) != about[name]:
            raise InputError(f"{file.parent}: holds a run with another {name.replace('_', ' ')}; name a new folder")


def _keep_abstracts(dataset: Dataset, chain: Chain, folder: Path) -> None:
    needed = {one for question in dataset.questions for one in question.relevant}
    for answer in read_answers(folder / "answers.jsonl").values():
        for version in (answer, answer.get("held_back") or {}):
            needed |= {citation["abstract_id"] for citation in version.get("citations", [])}
    abstracts = [chain.store.abstract(one) for one in sorted(needed)]
    write_jsonl(folder / "abstracts.jsonl", [{"id": a.id, "label": a.label, "text": a.text} for a in abstracts])


def _as_record(question: Question) -> dict[str, Any]:
    return asdict(question)
