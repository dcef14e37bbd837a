"""Training data of other fields: python -m rag.training.fields --scifact FOLDER --pubmedqa FILE --work FOLDER

Writes FOLDER/extra.jsonl for `rag.training.transformer`, out of SciFact's training claims and the second half of
PubMedQA's questions; the first half measures. `rag.training.data` says what it holds.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from rag.corpus.identity import normalize
from rag.corpus.sentences import split_sentences
from rag.training.data import read_lines

LONGEST = 2000
"""Abstracts of more characters train nothing: they would slow down every step."""

MEASURE = 250
"""So many of PubMedQA's questions, from the first, train nothing."""

WRONG = 3


def main() -> None:
    """Read both collections and write the training data."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scifact", type=Path, required=True, help="corpus.jsonl and claims_train.jsonl")
    parser.add_argument("--pubmedqa", type=Path, required=True, help="JSONL: id, question, abstract, conclusion")
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    dice = random.Random(options.seed)
    claims = list(scifact(options.scifact))
    questions = list(pubmedqa(options.pubmedqa))[MEASURE:]
    extra = [_with_wrong(record, field, dice) for field in (claims, questions) for record in field if _short(record)]
    _write(options.work / "extra.jsonl", extra)
    print(json.dumps({"claims": len(claims), "questions": len(questions), "written": len(extra)}))


def scifact(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield each training claim with each abstract that it cites; gold is the evidence, empty where there is none."""
    texts = {str(record["_id"]): _cut(record["text"]) for record in read_lines(folder / "corpus.jsonl")}
    for claim in read_lines(folder / "claims_train.jsonl"):
        for document in sorted({*claim["evidence"], *map(str, claim["cited_doc_ids"])}):
            rationales = claim["evidence"].get(document, [])
            gold = sorted({number for rationale in rationales for number in rationale["sentences"]})
            if all(number < len(texts[document]) for number in gold):
                yield {"id": document, "q": claim["claim"], "sentences": texts[document], "gold": gold}


def pubmedqa(file: Path) -> Iterator[dict[str, Any]]:
    """Yield each question with its abstract, whose conclusion is gold; those whose conclusion is elsewhere are left."""
    for record in read_lines(file):
        sentences, conclusion = _cut(record["abstract"]), normalize(record["conclusion"])
        gold = [number for number, sentence in enumerate(sentences) if sentence in conclusion]
        if gold:
            yield {"id": str(record["id"]), "q": record["question"], "sentences": sentences, "gold": gold}


def _cut(text: str) -> list[str]:
    text = normalize(text)
    return [text[start:end] for start, end in split_sentences(text)]


def _short(record: dict[str, Any]) -> bool:
    return sum(map(len, record["sentences"])) <= LONGEST


def _with_wrong(record: dict[str, Any], field: list[dict[str, Any]], dice: random.Random) -> dict[str, Any]:
    others = [other["sentences"] for other in dice.sample(field, WRONG) if other["id"] != record["id"]]
    return {name: record[name] for name in ("q", "sentences", "gold")} | {"wrong": others}


def _write(file: Path, records: Iterable[dict[str, Any]]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8")


if __name__ == "__main__":
    main()
