"""Questions with known answers, and the abstracts that they are about.

questions.jsonl          the question file of the contract, over the user's own store
beir:FOLDER              corpus.jsonl, queries.jsonl, qrels/test.tsv (each also .gz)
pubmedqa:FILE            JSONL: question, abstract, conclusion, verdict
scifact:FOLDER           corpus.jsonl and claims_dev.jsonl with evidence sentences
heldout:FOLDER           the reader's training data: the questions over abstracts that it was not fitted to
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rag.corpus.abstracts import from_text
from rag.corpus.identity import abstract_id, is_held_out, normalize
from rag.errors import InputError
from rag.evaluation.files import read_jsonl
from rag.records import Abstract, Turn


@dataclass(frozen=True, slots=True)
class Question:
    """A question and what a right answer holds. `must_include` is a conjunction of alternatives."""

    id: str
    kind: str
    question: str
    history: tuple[Turn, ...] = ()
    relevant: tuple[str, ...] = ()
    support: tuple[str, ...] = ()
    must_include: tuple[tuple[str, ...], ...] = ()
    answerable: bool = True
    grades: Mapping[str, int] = field(default_factory=dict)

    @property
    def conversation(self) -> str:
        """What is resampled whole: questions of one conversation share its opening."""
        return self.history[0].content if self.history else self.id


@dataclass(frozen=True, slots=True)
class Dataset:
    """Questions, and the abstracts they bring along; `abstracts` is None where they are over the user's store."""

    name: str
    questions: tuple[Question, ...]
    fingerprint: str
    abstracts: tuple[Abstract, ...] | None = None

    def check(self, texts: Mapping[str, str]) -> None:
        """Raise `InputError` for a relevant id that is not among `texts` and a support that no relevant text holds."""
        for question in self.questions:
            for one in question.relevant:
                if one not in texts:
                    raise InputError(f"{self.name}: question {question.id}: the store has no abstract {one}")
            for support in question.support:
                if not any(normalize(support) in texts[one] for one in question.relevant):
                    raise InputError(
                        f"{self.name}: question {question.id}: no relevant abstract has the support {support[:60]!r}"
                    )


def load_dataset(name: str) -> Dataset:
    """Load a question file or one of the collections above. Raises `InputError` that names file and line."""
    kind, separator, place = name.partition(":")
    if separator and kind in _COLLECTIONS:
        return _COLLECTIONS[kind](name, Path(place))
    questions = read_questions(Path(name))
    return Dataset(name, questions, _fingerprint(Path(name)))


def read_questions(file: Path) -> tuple[Question, ...]:
    """Read a question file. Raises `InputError` with file and line for what is no question and for a twin id."""
    questions: dict[str, Question] = {}
    for line, record in read_jsonl(file):
        question = _question(record, f"{file}:{line}")
        if question.id in questions:
            raise InputError(f"{file}:{line}: the id {question.id!r} stands on an earlier line too")
        questions[question.id] = question
    if not questions:
        raise InputError(f"{file}: no questions")
    return tuple(questions.values())


def _question(record: dict[str, Any], place: str) -> Question:
    try:
        question = Question(
            id=str(record["id"]),
            kind=str(record["kind"]),
            question=str(record["question"]),
            history=tuple(Turn(turn["role"], turn["content"]) for turn in record.get("history", [])),
            relevant=tuple(record["relevant"]),
            support=tuple(record.get("support", [])),
            must_include=tuple(tuple(group) for group in record.get("must_include", [])),
            answerable=record["answerable"],
        )
    except KeyError as error:
        raise InputError(f"{place}: the field {error} is missing") from error
    except TypeError as error:
        raise InputError(f"{place}: a field is of the wrong kind: {error}") from error
    if not isinstance(question.answerable, bool):
        raise InputError(f"{place}: answerable must be true or false")
    return question


def _beir(name: str, folder: Path) -> Dataset:
    abstracts, ids = _corpus(folder / "corpus.jsonl")
    grades = read_qrels(folder / "qrels" / "test.tsv")
    questions = []
    for line, record in read_jsonl(folder / "queries.jsonl"):
        judged = grades.get(str(record["_id"]), {})
        if unknown := [document for document in judged if document not in ids]:
            raise InputError(f"{folder / 'queries.jsonl'}:{line}: qrels name {unknown[0]!r}, which the corpus has not")
        relevant = {ids[document]: grade for document, grade in judged.items() if grade > 0}
        if relevant:
            questions.append(
                Question(str(record["_id"]), "query", record["text"], relevant=tuple(relevant), grades=relevant)
            )
    return Dataset(name, tuple(questions), _fingerprint(folder / "corpus.jsonl", folder / "queries.jsonl"), abstracts)


def read_qrels(file: Path) -> dict[str, dict[str, int]]:
    """Read query -> document -> grade from BEIR's three columns or TREC's four. Raises `InputError` with the line."""
    found: dict[str, dict[str, int]] = {}
    try:
        lines = file.read_text(encoding="utf-8").split("\n")
    except OSError as error:
        raise InputError(f"{file}: {error.strerror}") from error
    for number, line in enumerate(lines, 1):
        cells = line.split()
        if not cells or (number == 1 and not cells[-1].lstrip("-").isdigit()):
            continue
        if len(cells) not in (3, 4) or not cells[-1].lstrip("-").isdigit():
            raise InputError(f"{file}:{number}: not query, document and grade")
        found.setdefault(cells[0], {})[cells[-2]] = int(cells[-1])
    return found


def _scifact(name: str, folder: Path) -> Dataset:
    """Claims with gold evidence: support is every sentence of every rationale, as the corpus' own text has it."""
    abstracts, ids = _corpus(folder / "corpus.jsonl")
    texts = {abstract.id: abstract for abstract in abstracts}
    questions = []
    for _, record in read_jsonl(folder / "claims_dev.jsonl"):
        relevant, support = [], []
        for document, rationales in record["evidence"].items():
            abstract = texts[ids[str(document)]]
            relevant.append(abstract.id)
            gold = {number for rationale in rationales for number in rationale["sentences"]}
            support += [abstract.sentence(number) for number in sorted(gold) if number < len(abstract.sentences)]
        if relevant:
            questions.append(
                Question(str(record["id"]), "claim", record["claim"], relevant=tuple(relevant), support=tuple(support))
            )
    return Dataset(
        name, tuple(questions), _fingerprint(folder / "corpus.jsonl", folder / "claims_dev.jsonl"), abstracts
    )


def _pubmedqa(name: str, file: Path) -> Dataset:
    """Expert questions, each over its own abstract; support is the conclusion's sentences."""
    abstracts: dict[str, Abstract] = {}
    questions = []
    for _, record in read_jsonl(file):
        abstract = from_text(record["abstract"], record["id"])
        abstracts[abstract.id] = abstract
        conclusion = from_text(record["conclusion"], "")
        support = [conclusion.sentence(number) for number in range(len(conclusion.sentences))]
        kept = tuple(sentence for sentence in support if sentence in abstract.text)
        questions.append(
            Question(record["id"], record["verdict"], record["question"], relevant=(abstract.id,), support=kept)
        )
    return Dataset(name, tuple(questions), _fingerprint(file), tuple(abstracts.values()))


def _held_out(name: str, folder: Path) -> Dataset:
    """Questions whose answering sentences are known, among all abstracts of their file; without any: a near miss."""
    abstracts: dict[str, Abstract] = {}
    sentences = {}
    for _, record in read_jsonl(folder / "abstracts.jsonl"):
        sentences[record["id"]] = [normalize(sentence) for sentence in record["sentences"]]
        text = " ".join(sentences[record["id"]])
        abstracts[record["id"]] = from_text(text, record["id"])
    questions = []
    for line, record in read_jsonl(folder / "questions.jsonl"):
        if is_held_out(record["id"]):
            gold = tuple(sentences[record["id"]][number] for number in record["gold"])
            kind, relevant = ("fact", (abstracts[record["id"]].id,)) if gold else ("near miss", ())
            asked = Question(str(line), kind, record["q"], (), relevant, gold, answerable=bool(gold))
            questions.append(asked)
    different = {abstract.id: abstract for abstract in abstracts.values()}
    files = folder / "abstracts.jsonl", folder / "questions.jsonl"
    return Dataset(name, tuple(questions), _fingerprint(*files), tuple(different.values()))


def _corpus(file: Path) -> tuple[tuple[Abstract, ...], dict[str, str]]:
    """Return the abstracts of a BEIR corpus, and its ids -> ours."""
    abstracts: dict[str, Abstract] = {}
    ids: dict[str, str] = {}
    for line, record in read_jsonl(file):
        if "_id" not in record or not str(record.get("text", "")).strip():
            raise InputError(f"{file}:{line}: _id and text are needed")
        key = str(record["_id"])
        ids[key] = abstract_id(record["text"])
        abstracts.setdefault(ids[key], from_text(record["text"], key, record.get("title") or None))
    return tuple(abstracts.values()), ids


def _fingerprint(*files: Path) -> str:
    digest = hashlib.sha256()
    for file in files:
        digest.update((file if file.exists() else file.with_name(file.name + ".gz")).read_bytes())
    return digest.hexdigest()[:16]


_COLLECTIONS: dict[str, Callable[[str, Path], Dataset]] = {
    "beir": _beir,
    "scifact": _scifact,
    "pubmedqa": _pubmedqa,
    "heldout": _held_out,
}
