"""The transformer reader as it is trained, in PyTorch: MiniLM with two heads, and low-rank adapters if wanted."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.nn.utils import parametrize
from transformers import BertConfig, BertModel

from rag.index.minilm import minilm_folder
from rag.reader.transformer import Row, pooling

STRIDE: Final = 32
"""Rows are padded to a multiple of this: for each new shape the kernels are compiled anew."""

WORD_EMBEDDINGS: Final = "bert.embeddings.word_embeddings.weight"
"""Never trained nor written: half of all bytes, and in the encoder's package."""


class SentenceScorer(nn.Module):
    """Everything but the word embeddings is trained."""

    def __init__(self, bert: BertModel, hidden: int = 128, dropout: float = 0.1) -> None:
        super().__init__()
        size = bert.config.hidden_size
        self.bert = bert
        self.sentence, self.answerable = (
            nn.Sequential(nn.Linear(size, hidden), nn.GELU(), nn.Dropout(dropout), nn.Linear(hidden, 1))
            for _ in range(2)
        )

    def forward(self, pieces: Tensor, kinds: Tensor, mask: Tensor, pooling: Tensor) -> tuple[Tensor, Tensor]:
        """Return logits of shape (rows, sentences) and (rows,); `pooling` (rows, sentences, pieces) has means."""
        states = self.bert(input_ids=pieces, token_type_ids=kinds, attention_mask=mask).last_hidden_state
        sentences = self.sentence(pooling.to(states.dtype) @ states)
        return sentences[..., 0].float(), self.answerable(states[:, 0])[..., 0].float()


def build(weights: Path | None = None) -> SentenceScorer:
    """Return the network with MiniLM's weights, or with trained ones. Raises `OSError` where they do not fit."""
    folder = minilm_folder()
    config = BertConfig.from_json_file(folder / "config.json")
    config.attention_probs_dropout_prob = 0.0
    config._attn_implementation = "eager"  # torch's fused attention takes twice as long with a mask on a processor
    bert = BertModel(config, add_pooling_layer=False)
    base = load_file(folder / "model.safetensors")
    bert.load_state_dict({name: tensor for name, tensor in base.items() if "pooler" not in name}, strict=False)
    model = SentenceScorer(bert)
    if weights:
        held = {name: tensor.float() for name, tensor in load_file(weights).items()}
        missing, unknown = model.load_state_dict(held, strict=False)
        if unknown or set(missing) - {WORD_EMBEDDINGS}:
            raise OSError(f"{weights}: not this network's weights ({[*missing, *unknown][:3]})")
    return model


def save(model: SentenceScorer, file: Path) -> None:
    """Write all weights but the word embeddings, in fp16, low-rank adapters merged into their layers."""
    held = {
        name: tensor
        for name, tensor in model.state_dict().items()
        if ".parametrizations." not in name and name != WORD_EMBEDDINGS
    }
    for name, layer in model.named_modules():
        if parametrize.is_parametrized(layer):
            held[f"{name}.weight"] = layer.weight.detach()
    file.parent.mkdir(parents=True, exist_ok=True)
    save_file({name: tensor.half().contiguous() for name, tensor in held.items()}, file)


def average(files: Sequence[Path], out: Path) -> None:
    """Write the mean of several files of weights."""
    held = [load_file(file) for file in files]
    mean = {name: torch.stack([one[name].float() for one in held]).mean(0).half() for name in held[0]}
    save_file(mean, out)


def batch(rows: Sequence[Row]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return word pieces, kinds (0 question, 1 abstract), mask and pooling of the rows, padded."""
    longest = max(len(row.pieces) for row in rows)
    pieces = torch.zeros(len(rows), -(-longest // STRIDE) * STRIDE, dtype=torch.long)
    kinds = torch.zeros_like(pieces)
    means = torch.zeros(len(rows), max(len(row.spans) for row in rows), pieces.shape[1])
    for place, row in enumerate(rows):
        length = len(row.pieces)
        pieces[place, :length] = torch.tensor(row.pieces)
        kinds[place, row.spans[0][0] : length] = 1
        means[place, : len(row.spans), :length] = torch.from_numpy(pooling(row))
    return pieces, kinds, (pieces != 0).long(), means


class LowRank(nn.Module):
    """Adds a trained matrix of low rank to a frozen one (LoRA, Hu et al. 2021, with alpha = rank)."""

    def __init__(self, rows: int, columns: int, rank: int) -> None:
        super().__init__()
        self.down = nn.Parameter(torch.randn(rank, columns) / columns**0.5)
        self.up = nn.Parameter(torch.zeros(rows, rank))

    def forward(self, weight: Tensor) -> Tensor:
        """Return the adapted matrix."""
        return weight + self.up @ self.down


def adapt(model: SentenceScorer, rank: int) -> None:
    """Freeze MiniLM, and give each of its linear layers an adapter of a rank."""
    model.bert.requires_grad_(False)
    for layer in [layer for layer in model.bert.modules() if isinstance(layer, nn.Linear)]:
        parametrize.register_parametrization(layer, "weight", LowRank(layer.out_features, layer.in_features, rank))


class PooledDropout(nn.Module):
    """Dropout whose masks are cut from one long one at random: torch draws them on one thread, a fifth of a step."""

    def __init__(self, p: float, dice: random.Random) -> None:
        super().__init__()
        self.p, self.dice = p, dice
        self.pool = (torch.rand(1 << 22) < 1 - p).bfloat16() / (1 - p)

    def forward(self, states: Tensor) -> Tensor:
        """Return the states, in training with a part `p` of them zeroed."""
        if not self.training:
            return states
        first = self.dice.randrange(self.pool.numel() - states.numel())
        return states * self.pool[first : first + states.numel()].view_as(states)


def pool_dropout(module: nn.Module, dice: random.Random) -> None:
    """Replace every dropout in a module that drops anything."""
    for name, child in list(module.named_children()):
        if isinstance(child, nn.Dropout) and child.p:
            setattr(module, name, PooledDropout(child.p, dice))
        else:
            pool_dropout(child, dice)
