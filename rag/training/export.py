"""Turn trained weights into what the package carries: python -m rag.training.export CHECKPOINT [--out FILE] [--exact]

The network without its word embeddings, in ONNX, with matrices in int8 (a scale for each column) unless --exact.
Needs the packages of the extra `train`.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from torch import Tensor, nn

from rag.training.network import SentenceScorer, build

INPUTS = {"words": {0: "pieces"}, "kinds": {0: "pieces"}, "pooling": {0: "sentences", 1: "pieces"}}


class OneRow(nn.Module):
    """Reads one abstract, whose word embeddings are given: nothing is padded, so nothing is masked."""

    def __init__(self, model: SentenceScorer) -> None:
        super().__init__()
        self.model = model

    def forward(self, words: Tensor, kinds: Tensor, pooling: Tensor) -> tuple[Tensor, Tensor]:
        """Return logits of shape (sentences,) and (); `words` has the shape (pieces, 384)."""
        states = self.model.bert(inputs_embeds=words[None], token_type_ids=kinds[None]).last_hidden_state[0]
        return self.model.sentence(pooling @ states)[..., 0], self.model.answerable(states[:1])[0, 0]


def export(checkpoint: Path, out: Path, exact: bool = False) -> None:
    """Write `out`, in ONNX."""
    from onnxruntime.quantization import QuantType, quantize_dynamic

    example = (torch.zeros(40, 384), torch.zeros(40, dtype=torch.long), torch.zeros(3, 40))
    with TemporaryDirectory() as folder:
        whole = out if exact else Path(folder) / "whole.onnx"
        torch.onnx.export(
            OneRow(build(checkpoint)).eval(), example, str(whole), input_names=list(INPUTS),
            output_names=["evidence", "answerable"], dynamic_axes=INPUTS | {"evidence": {0: "sentences"}},
            opset_version=17, dynamo=False,
        )  # fmt: skip
        if not exact:
            quantize_dynamic(whole, out, per_channel=True, weight_type=QuantType.QInt8, op_types_to_quantize=["MatMul"])


def main() -> None:
    """Export, and say how large it is."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("--out", type=Path, default=Path("rag/reader/reader.onnx"))
    parser.add_argument("--exact", action="store_true", help="float32, to compare with")
    options = parser.parse_args()
    export(options.checkpoint, options.out, options.exact)
    print(f"{options.out}: {options.out.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
