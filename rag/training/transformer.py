"""Train the transformer reader: python -m rag.training.transformer DATA --work FOLDER [--extra FILE] [--epochs 3]

`rag.training.data` says what DATA and the extra file hold. Each answerable question comes with a hard wrong abstract,
one of the best-ranked that the product's own retriever finds (mined once, and kept in FOLDER), or with its own abstract
bare of the answer. The loss is listwise over all sentences of a question's rows, listwise over its abstracts, and
cross-entropy of each sentence and abstract. After each epoch FOLDER/NAME.N.safetensors is written with what it measures
on the held-out abstracts. The best one, or the mean of the last epochs' weights with --average, is kept as
FOLDER/NAME.safetensors, for `rag.training.export`. A step of 8 abstracts takes 0.45 s on two cores with AMX, in
bfloat16 with the weights kept in float32.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn.functional import binary_cross_entropy_with_logits as cross_entropy
from tqdm import tqdm

from rag.corpus.identity import is_held_out
from rag.corpus.markup import plain
from rag.index.minilm import load_tokenizer
from rag.reader.transformer import Pieces, Row, lay_out
from rag.training.data import Data, read_data, read_lines
from rag.training.mine import mined
from rag.training.network import SentenceScorer, adapt, average, batch, build, pool_dropout, save

BARED = 0.35
"""The share of answerable questions whose wrong abstract is their own one without the answer."""

WARM_UP = 0.06
CLIP = 1.0


@dataclass(frozen=True, slots=True)
class Task:
    """A question about an abstract, in word pieces; `gold` numbers the answering sentences, none in a near miss."""

    question: Pieces
    sentences: list[Pieces]
    gold: tuple[int, ...]
    wrong: tuple[list[Pieces], ...]
    held_out: bool


@dataclass(frozen=True, slots=True)
class Group:
    """The rows of one question, its own abstract first; `gold` numbers the answering sentences of that."""

    rows: tuple[Row, ...]
    gold: tuple[int, ...]


def main() -> None:
    """Train, measure on held-out abstracts after each epoch, and write the weights."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--work", type=Path, required=True, help="keeps mined abstracts and weights")
    parser.add_argument("--name", default="reader")
    parser.add_argument("--extra", type=Path, action="append", default=[])
    parser.add_argument("--start", type=Path, help="weights to go on from")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--rate", type=float, default=1e-4)
    parser.add_argument("--head-rate", type=float, default=1e-3)
    parser.add_argument("--rank", type=int, default=0, help="train low-rank adapters in place of whole layers")
    parser.add_argument("--average", type=int, default=1, help="keep the mean of so many last epochs, not the best")
    parser.add_argument("--rows", type=int, default=8, help="abstracts a step")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    model = build(options.start)
    if options.rank:
        adapt(model, options.rank)
    extra = [record for file in options.extra for record in read_lines(file)]
    train(model, list(tasks(read_data(options.data), extra, options.work)), options)


def train(model: SentenceScorer, examples: Sequence[Task], options: argparse.Namespace) -> None:
    """Fit the model in place; print what was measured, and write the weights, after each epoch."""
    fitting, held_out = ([task for task in examples if task.held_out == side] for side in (False, True))
    dice = random.Random(options.seed)
    epochs = [list(_batches(fitting, dice, options.rows)) for _ in range(options.epochs)]
    optimizer = _Optimizer(model, options, steps=sum(len(epoch) for epoch in epochs))
    pool_dropout(model, dice)
    model.bfloat16()
    best, written = 0.0, []
    for number, epoch in enumerate(epochs, 1):
        model.train()
        began, losses = time.monotonic(), []
        for groups in tqdm(epoch, desc=f"epoch {number}", disable=None, mininterval=10):
            scores, answerable = model(*batch([row for group in groups for row in group.rows]))
            loss = _loss(scores, answerable, groups)
            model.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            losses.append(loss.item())
            if len(losses) % 100 == 0:
                mean, seconds = np.mean(losses[-100:]), time.monotonic() - began
                print(f"{len(losses)}/{len(epoch)} loss {mean:.3f} {seconds:.0f} s", flush=True)
        measured = measure(model, held_out)
        print(json.dumps({"epoch": number, "loss": round(float(np.mean(losses)), 4), **measured}), flush=True)
        written.append(options.work / f"{options.name}.{number}.safetensors")
        save(model, written[-1])
        if measured["first"] + measured["auc"] > best:
            best = measured["first"] + measured["auc"]
            save(model, options.work / f"{options.name}.safetensors")
    if options.average > 1:
        kept = options.work / f"{options.name}.safetensors"
        average(written[-options.average :], kept)
        print(json.dumps({"epochs": options.average, **measure(build(kept), held_out)}), flush=True)


class _Optimizer:
    """AdamW over float32 copies of the bfloat16 weights, with a warm-up and a linear decline."""

    def __init__(self, model: SentenceScorer, options: argparse.Namespace, steps: int) -> None:
        model.bert.embeddings.word_embeddings.requires_grad_(False)
        heads = [*model.sentence.parameters(), *model.answerable.parameters()]
        body = [parameter for parameter in model.bert.parameters() if parameter.requires_grad]
        self.trained = [*body, *heads]
        self.masters = [parameter.detach().clone().requires_grad_() for parameter in self.trained]
        rates = [(self.masters[: len(body)], options.rate), (self.masters[len(body) :], options.head_rate)]
        groups: list[dict[str, Any]] = [{"params": masters, "lr": rate} for masters, rate in rates]
        self.adamw = torch.optim.AdamW(groups, weight_decay=0.01, fused=True)
        self.schedule = torch.optim.lr_scheduler.LambdaLR(
            self.adamw, lambda step: min((step + 1) / (WARM_UP * steps), (steps - step) / (steps * (1 - WARM_UP)), 1.0)
        )

    def step(self) -> None:
        for master, parameter in zip(self.masters, self.trained, strict=True):
            master.grad = None if parameter.grad is None else parameter.grad.float()
        torch.nn.utils.clip_grad_norm_(self.masters, CLIP)
        self.adamw.step()
        self.schedule.step()
        with torch.no_grad():
            for master, parameter in zip(self.masters, self.trained, strict=True):
                parameter.copy_(master)


def measure(model: SentenceScorer, examples: Sequence[Task]) -> dict[str, float]:
    """Return how often a gold sentence of the right abstract is first, in two, in three; and the near misses' AUC."""
    from sklearn.metrics import roc_auc_score

    model.eval()
    ranks, sure = [], []
    for first in range(0, len(examples), 16):
        some = examples[first : first + 16]
        rows = [lay_out(task.question, task.sentences)[0] for task in some]
        with torch.inference_mode():
            scores, answerable = model(*batch(rows))
        for task, row, own, logit in zip(some, rows, scores, answerable, strict=True):
            order = own[: len(row.spans)].argsort(descending=True).tolist()
            sure.append(float(logit))
            if task.gold:
                ranks.append(next((place for place, sentence in enumerate(order) if sentence in task.gold), 99))
    found = {name: float(np.mean(np.array(ranks) < count)) for name, count in (("first", 1), ("two", 2), ("three", 3))}
    found["auc"] = float(roc_auc_score([bool(task.gold) for task in examples], sure))
    return {name: round(value, 4) for name, value in found.items()}


def tasks(data: Data, extra: Sequence[dict[str, Any]], work: Path) -> Iterator[Task]:
    """Yield all questions in word pieces, with the wrong abstracts that were mined for them."""
    tokenizer = load_tokenizer()

    def cut(texts: Sequence[str]) -> list[Pieces]:
        found = tokenizer.encode_batch([plain(text) for text in texts], add_special_tokens=False)
        return [tuple(encoded.ids) for encoded in found]

    pieces = {abstract_id: cut(sentences) for abstract_id, sentences in data.abstracts.items()}
    for record, near in zip(data.questions, mined(data, work), strict=True):
        wrong, held_out = tuple(pieces[other] for other in near), is_held_out(record["id"])
        yield Task(cut([record["q"]])[0], pieces[record["id"]], tuple(record["gold"]), wrong, held_out)
    for record in extra:
        wrong = tuple(cut(sentences) for sentences in record.get("wrong", []))
        yield Task(cut([record["q"]])[0], cut(record["sentences"]), tuple(record["gold"]), wrong, held_out=False)


def _loss(scores: torch.Tensor, answerable: torch.Tensor, groups: Sequence[Group]) -> torch.Tensor:
    counts = torch.tensor([len(row.spans) for group in groups for row in group.rows])
    real = torch.arange(scores.shape[1]) < counts[:, None]
    gold, right = torch.zeros_like(scores), torch.zeros_like(answerable)
    listwise, row = [], 0
    for group in groups:
        end = row + len(group.rows)
        if group.gold:
            gold[row, list(group.gold)] = 1
            right[row] = 1
            own = scores[row:end][real[row:end]]
            listwise.append(own.logsumexp(0) - scores[row, list(group.gold)].logsumexp(0))
            listwise.append(0.5 * (answerable[row:end].logsumexp(0) - answerable[row]))
        row = end
    ranked = torch.stack(listwise).sum() / len(groups) if listwise else scores.new_zeros(())
    return ranked + cross_entropy(scores[real], gold[real]) + cross_entropy(answerable, right)


def _batches(examples: Sequence[Task], dice: random.Random, rows: int) -> Iterator[list[Group]]:
    """Yield an epoch: shuffled, with groups of like length together to save padding."""
    groups = [_group(task, dice) for task in dice.sample(examples, len(examples))]
    batches: list[list[Group]] = []
    for first in range(0, len(groups), 16 * rows):
        pool = sorted(groups[first : first + 16 * rows], key=lambda group: max(len(row.pieces) for row in group.rows))
        batches.append([])
        for group in pool:
            if sum(len(other.rows) for other in batches[-1]) + len(group.rows) > rows:
                batches.append([])
            batches[-1].append(group)
    yield from dice.sample(batches, len(batches))


def _group(task: Task, dice: random.Random) -> Group:
    abstracts = [task.sentences]
    bare = [pieces for place, pieces in enumerate(task.sentences) if place not in task.gold]
    if task.gold and bare and dice.random() < BARED:
        abstracts.append(bare)
    elif task.gold and task.wrong:
        abstracts += dice.choices(task.wrong, [1 / (1 + rank) for rank in range(len(task.wrong))])
    rows = tuple(lay_out(task.question, sentences)[0] for sentences in abstracts)
    return Group(rows, tuple(place for place in task.gold if place < len(rows[0].spans)))


if __name__ == "__main__":
    main()
