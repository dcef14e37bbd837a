"""From a run's folder to its numbers, without a store or a model: metrics, rows a question, TREC and JUnit files."""

from __future__ import annotations

import json
import statistics
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from rag.errors import InputError
from rag.evaluation.datasets import Dataset, Question, read_questions
from rag.evaluation.files import rankings, read_answers, write_json, write_jsonl
from rag.evaluation.intervals import Interval, bootstrap, wilson
from rag.evaluation.metrics import QuestionScore, score_answer
from rag.evaluation.retrieval import Run, first_relevant_rank, retrieval_scores, write_qrels, write_trec_run

Answers = Mapping[str, Mapping[str, Any]]
RATES = ("right", "abstract", "sentence", "refused", "broken")
CURVE_POINTS = 60


def score_run(folder: Path, seed: int = 0) -> dict[str, Any]:
    """Score a run's folder, write what is measured into it, and return metrics.json's content."""
    questions = read_questions(folder / "questions.jsonl")
    answers = read_answers(folder / "answers.jsonl")
    if missing := [question.id for question in questions if question.id not in answers]:
        raise InputError(
            f"{folder}: {len(missing)} of {len(questions)} questions have no answer (first: {missing[0]}); "
            "run it again to go on"
        )
    abstracts = [json.loads(line) for line in (folder / "abstracts.jsonl").read_text("utf-8").split("\n") if line]
    about = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    texts = {abstract["id"]: abstract["text"] for abstract in abstracts}
    labels = {abstract["id"]: abstract["label"] for abstract in abstracts}
    run = rankings({key: dict(answer) for key, answer in answers.items()})
    retrieval, ranks = _retrieval(questions, run, seed)
    if about["retrieval_only"]:
        errors = sum("error" in answer for answer in answers.values())
        metrics = {"questions": len(questions), "retrieval": retrieval, "ranks": ranks, "errors": errors}
    else:
        rows = per_question(questions, answers, texts, labels, run)
        metrics = summarize(questions, answers, texts, seed) | {"retrieval": retrieval, "ranks": ranks}
        write_jsonl(folder / "per_question.jsonl", rows)
        _write_junit(folder / "junit.xml", about["dataset"], rows)
    write_json(folder / "metrics.json", metrics)
    write_trec_run(run, folder / "run.trec", about["answerer"])
    write_qrels(_qrels(questions), folder / "qrels.trec")
    return metrics


def summarize(
    questions: Sequence[Question], answers: Answers, texts: Mapping[str, str], seed: int = 0
) -> dict[str, Any]:
    """Return every measure over all questions and by kind, each rate with its 95% interval."""
    scores = {q.id: score_or_zero(q, answers.get(q.id), texts) for q in questions}
    kinds: dict[str, list[Question]] = {}
    for question in questions:
        kinds.setdefault(question.kind, []).append(question)
    answerable = [q for q in questions if q.answerable]
    refused = [q for q in questions if scores[q.id].refused]
    correct = sum(not q.answerable for q in refused)
    curve = coverage_curve(questions, answers, texts)
    return {
        "questions": len(questions),
        "overall": _rates(questions, scores, seed),
        "kinds": {kind: _rates(members, scores, seed) for kind, members in kinds.items()},
        "citation_precision": _mean(answerable, scores, "citation_precision", seed),
        "citation_recall": _mean(answerable, scores, "citation_recall", seed),
        "list_f1": _mean(answerable, scores, "list_f1", seed),
        "dropped": _mean(questions, scores, "dropped", seed),
        "refusal_precision": wilson(correct, len(refused)).as_dict() if refused else None,
        "refusal_recall": _ratio(correct, sum(not q.answerable for q in questions)),
        "curve": curve,
        "operating_point": operating_point(questions, scores, answers),
        "latency_ms": latencies(answers),
        "errors": sum("error" in answers.get(q.id, {"error": ""}) for q in questions),
    }


def per_question(
    questions: Sequence[Question], answers: Answers, texts: Mapping[str, str], labels: Mapping[str, str], run: Run
) -> list[dict[str, Any]]:
    """Return a record a question: its measures, the answer, and what was expected."""
    rows = []
    for question in questions:
        answer = answers.get(question.id, {"error": "no answer"})
        score = score_or_zero(question, answer, texts)
        rows.append({
            "id": question.id, "kind": question.kind, "question": question.question,
            "history": [asdict(turn) for turn in question.history], "answerable": question.answerable,
            "conversation": question.conversation, "verdict": verdict(question, score, answer), **asdict(score),
            "rank": first_relevant_rank(question.relevant, run[question.id]) if question.id in run else None,
            "confidence": answer.get("confidence"), "text": answer.get("text", ""),
            "standalone_question": answer.get("standalone_question", question.question),
            "citations": list(answer.get("citations", [])), "error": answer.get("error"),
            "expected": {
                "relevant": list(question.relevant), "labels": [labels.get(one, one) for one in question.relevant],
                "support": list(question.support), "must_include": [list(group) for group in question.must_include],
            },
        })  # fmt: skip
    return rows


def score_or_zero(question: Question, answer: Mapping[str, Any] | None, texts: Mapping[str, str]) -> QuestionScore:
    """Score an answer; none, or one that failed, counts as wrong and broken: errors are never dropped."""
    if answer is None or "error" in answer:
        zero = 0.0 if question.answerable else None
        return QuestionScore(0.0, 0.0, 1.0, abstract=zero if question.relevant else None)
    return score_answer(question, answer, texts)


def verdict(question: Question, score: QuestionScore, answer: Mapping[str, Any]) -> str:
    """Return one word or two for what became of a question."""
    if "error" in answer:
        return "error"
    if score.broken:
        return "broken"
    if score.refused:
        return "refused wrongly" if question.answerable else "refused rightly"
    return "right" if score.right else "wrong"


def coverage_curve(questions: Sequence[Question], answers: Answers, texts: Mapping[str, str]) -> list[dict[str, float]]:
    """Return, for refusal thresholds from low to high, the share answered and the share of those that are right.

    A question that was refused is judged by the answer that was held back; one with no confidence is left out.
    An answered question that has no answer is wrong (El-Yaniv and Wiener 2010: risk and coverage).
    """
    judged: list[tuple[float, float]] = []
    for question in questions:
        answer = answers.get(question.id, {})
        shown = answer.get("held_back") or answer
        if "error" not in answer and shown.get("answerable") and answer.get("confidence") is not None:
            right = score_answer(question, shown, texts).right if question.answerable else 0.0
            judged.append((answer["confidence"], right))
    judged.sort(reverse=True)
    points = []
    for count in sorted({round(n) for n in np.linspace(1, len(judged), CURVE_POINTS)} if judged else ()):
        taken = judged[:count]
        accuracy = sum(right for _, right in taken) / count
        points.append({"threshold": taken[-1][0], "coverage": count / len(questions), "accuracy": round(accuracy, 6)})
    return points[::-1]


def operating_point(
    questions: Sequence[Question], scores: Mapping[str, QuestionScore], answers: Answers
) -> dict[str, float] | None:
    """Return where on the curve the system decided to be; None where its answers tell no confidence."""
    answered = [
        q for q in questions if not scores[q.id].refused and answers.get(q.id, {}).get("confidence") is not None
    ]
    if not answered:
        return None
    accuracy = sum(scores[q.id].right for q in answered) / len(answered)
    threshold = min(answers[q.id]["confidence"] for q in answered)
    return {"threshold": threshold, "coverage": len(answered) / len(questions), "accuracy": accuracy}


def latencies(answers: Answers) -> dict[str, dict[str, float]]:
    """Return stage -> p50, p95 and p99 in milliseconds."""
    stages: dict[str, list[float]] = {}
    for answer in answers.values():
        for stage, milliseconds in answer.get("timings_ms", {}).items():
            stages.setdefault(stage, []).append(milliseconds)
    return {
        stage: {f"p{p}": round(float(np.percentile(values, p)), 2) for p in (50, 95, 99)}
        for stage, values in stages.items()
    }


def score_foreign(dataset: Dataset, answers: Answers, texts: Mapping[str, str], seed: int = 0) -> dict[str, Any]:
    """Score somebody else's answers to a dataset. Raises `InputError` for an answer to no question of it."""
    known = {question.id for question in dataset.questions}
    if unknown := [key for key in answers if key not in known]:
        raise InputError(f"{dataset.name}: no question has the id {unknown[0]!r}, which the answers have")
    for key, answer in answers.items():
        for name in ("answerable", "text", "sentences", "citations"):
            if "error" not in answer and name not in answer:
                raise InputError(f"answer {key}: the field {name!r} is missing")
    return summarize(dataset.questions, answers, texts, seed)


def _rates(questions: Sequence[Question], scores: Mapping[str, QuestionScore], seed: int) -> dict[str, Any]:
    words = [w for q in questions if (w := scores[q.id].words) is not None]
    rates: dict[str, Any] = {"n": len(questions)}
    for name in RATES:
        rates[name] = _mean(questions, scores, name, seed)
    return rates | {"words": statistics.median(words) if words else None}


def _mean(
    questions: Sequence[Question], scores: Mapping[str, QuestionScore], name: str, seed: int
) -> dict[str, float] | None:
    """A rate of single questions has Wilson's interval; conversations and fractions are resampled."""
    pairs = [
        (getattr(scores[q.id], name), q.conversation) for q in questions if getattr(scores[q.id], name) is not None
    ]
    if not pairs:
        return None
    values, groups = [value for value, _ in pairs], [group for _, group in pairs]
    single = len(set(groups)) == len(groups) and set(values) <= {0.0, 1.0}
    interval: Interval = wilson(sum(values), len(values)) if single else bootstrap(values, groups, seed)
    return interval.as_dict()


def _ratio(part: int, whole: int) -> dict[str, float] | None:
    return wilson(part, whole).as_dict() if whole else None


def _qrels(questions: Sequence[Question]) -> dict[str, dict[str, int]]:
    return {q.id: dict(q.grades) or dict.fromkeys(q.relevant, 1) for q in questions if q.relevant}


def _retrieval(questions: Sequence[Question], run: Run, seed: int) -> tuple[dict[str, Any] | None, dict[str, int]]:
    qrels = _qrels(questions)
    if not run or not qrels:
        return None, {}
    groups = {question.id: question.conversation for question in questions}
    scores = retrieval_scores(qrels, {key: found for key, found in run.items() if key in qrels})
    means = {
        name: bootstrap(list(values.values()), [groups[key] for key in values], seed).as_dict()
        for name, values in scores.items()
    }
    ranks = Counter(first_relevant_rank(list(qrels[key]), run.get(key, ())) for key in qrels)
    named = {str(rank): ranks[rank] for rank in sorted(rank for rank in ranks if rank)}
    return means, named | ({"not retrieved": ranks[None]} if ranks[None] else {})


def _write_junit(file: Path, dataset: str, rows: Sequence[Mapping[str, Any]]) -> None:
    suite = ElementTree.Element("testsuite", name=dataset, tests=str(len(rows)))
    failing: Callable[[Mapping[str, Any]], bool] = lambda row: row["verdict"] not in ("right", "refused rightly")  # noqa: E731
    suite.set("failures", str(sum(failing(row) for row in rows)))
    for row in rows:
        case = ElementTree.SubElement(suite, "testcase", classname=row["kind"], name=row["id"])
        if failing(row):
            failure = ElementTree.SubElement(case, "failure", message=row["verdict"])
            failure.text = "".join(c for c in f"{row['question']}\n{row['text']}" if c == "\n" or c >= " ")
    ElementTree.ElementTree(suite).write(file, encoding="utf-8", xml_declaration=True)
