"""From files to abstracts: the seeds by the contract, and mistakes by name and line."""

from collections import Counter
from pathlib import Path

import pytest

from rag.corpus.files import find_files, read_abstracts, seeds_path
from rag.corpus.identity import abstract_id, normalize
from rag.errors import InputError

SEEDS = seeds_path()


def test_the_seeds_hold_92_abstracts_in_95_paragraphs() -> None:
    abstracts = list(read_abstracts(find_files([SEEDS])))
    counts = Counter(abstract.id for abstract in abstracts)
    assert (len(abstracts), len(counts)) == (95, 92)
    assert {i for i, count in counts.items() if count == 2} == {"4ad7f1d5ed9b", "aa956fc255c8", "9a85d68d8953"}
    assert {abstract.collection for abstract in abstracts} == {"ICML 2026 Papers", "ICML 2026 论文列表"}
    assert abstracts[2].sources == ("000_e3f70eced2022ecb.txt#3",)


def test_labels_tell_the_seeds_apart() -> None:
    labels = {abstract.id: abstract.label for abstract in read_abstracts(find_files([SEEDS]))}
    assert len(set(labels.values())) == 92
    assert labels["6657dcdee837"].startswith("SD3.5-T⁵: While linear-complexity")
    assert labels["a81ba9e59f79"].startswith("PAPO: Continual learning")
    assert labels["68b9909fc731"].startswith("MACKO-SpMV: ")
    assert all("\n" not in label and len(label) <= 80 for label in labels.values())


def test_sentences_are_spans_of_the_text() -> None:
    for abstract in read_abstracts(find_files([SEEDS])):
        assert " ".join(abstract.sentence(i) for i in range(len(abstract.sentences))) == abstract.text


def test_identity_is_of_the_normal_form() -> None:
    assert normalize("  a\u0308\n b\t c ") == "ä b c"
    assert abstract_id("  a\u0308\n b ") == abstract_id("ä b") == "83ec61e937eb"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.txt", b"", r"a\.txt: the file is empty"),
        ("a.txt", b" \n\n \n", r"a\.txt: the file is empty"),
        ("a.txt", b"Only a heading\n", r"a\.txt: no abstract below the heading"),
        ("a.txt", b"\x7fELF\x00\x01", r"a\.txt: a binary file"),
        ("a.txt", b"Heading\n\nfine\n\nna\xefve\n", r"a\.txt:5: byte 0xef is not UTF-8"),
        ("a.txt", b"Heading\n\n" + b"x" * 100_001, r"a\.txt: paragraph 1 has 100,001 characters"),
        ("a.pdf", b"%PDF", r"a\.pdf: not a kind of file that is read here \(\.txt\)"),
    ],
    ids=["empty", "blank", "heading only", "binary", "not UTF-8", "huge", "other kind"],
)
def test_a_bad_file_is_named(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    file = tmp_path / name
    file.write_bytes(content)
    with pytest.raises(InputError, match=message):
        list(read_abstracts(find_files([file])))


def test_a_bad_path_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere: no such file or folder"):
        find_files([tmp_path / "nowhere"])
    with pytest.raises(InputError, match=r"no text file \(\.txt\) in this folder"):
        find_files([tmp_path])


def test_what_editors_leave_behind_does_no_harm(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes("\ufeffMy heading\r\n\r\nOne is\r\nhere.\r\n \r\n\r\n\r\nTwo.\r\n".encode())
    found = list(read_abstracts(find_files([file, tmp_path])))
    assert [(a.text, a.sources, a.collection) for a in found] == [
        ("One is here.", ("a.txt#1",), "My heading"),
        ("Two.", ("a.txt#2",), "My heading"),
    ]


def test_a_file_without_a_heading_loses_nothing(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    first = "A long first line is an abstract. " * 10
    file.write_text(f"{first}\n\nTwo.\n")
    assert [a.text for a in read_abstracts([file])] == [first.strip(), "Two."]
