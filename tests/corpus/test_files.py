"""From files to abstracts: the seeds by the contract, and mistakes by name and line."""

import gzip
import zipfile
from collections import Counter
from pathlib import Path

import pytest

from rag.corpus.abstracts import to_abstract
from rag.corpus.files import find_files, read_records, seeds_path
from rag.corpus.identity import abstract_id, normalize
from rag.corpus.record import Record, Skipped
from rag.errors import InputError
from rag.records import Abstract

SEEDS = seeds_path()


def read_abstracts(*paths: Path) -> list[Abstract]:
    """All abstracts of the files, which must have nothing that is skipped."""
    pairs = [(file, record) for file in find_files(paths) for record in read_records(file)]
    return [to_abstract([record], [file.name + record.place]) for file, record in pairs if isinstance(record, Record)]


def problems(*paths: Path) -> list[Skipped]:
    return [item for file in find_files(paths) for item in read_records(file) if isinstance(item, Skipped)]


def test_the_seeds_hold_92_abstracts_in_95_paragraphs() -> None:
    abstracts = read_abstracts(SEEDS)
    counts = Counter(abstract.id for abstract in abstracts)
    assert (len(abstracts), len(counts)) == (95, 92)
    assert {i for i, count in counts.items() if count == 2} == {"4ad7f1d5ed9b", "aa956fc255c8", "9a85d68d8953"}
    assert {abstract.heading for abstract in abstracts} == {"ICML 2026 Papers", "ICML 2026 论文列表"}
    assert abstracts[2].sources == ("000_e3f70eced2022ecb.txt#3",)


def test_labels_tell_the_seeds_apart() -> None:
    labels = {abstract.id: abstract.label for abstract in read_abstracts(SEEDS)}
    assert len(set(labels.values())) == 92
    assert labels["6657dcdee837"].startswith("SD3.5-T⁵: While linear-complexity")
    assert labels["a81ba9e59f79"].startswith("PAPO: Continual learning")
    assert labels["68b9909fc731"].startswith("MACKO-SpMV: ")
    assert all("\n" not in label and len(label) <= 80 for label in labels.values())


def test_sentences_are_spans_of_the_text() -> None:
    for abstract in read_abstracts(SEEDS):
        assert " ".join(abstract.sentence(i) for i in range(len(abstract.sentences))) == abstract.text


def test_identity_is_of_the_normal_form() -> None:
    assert normalize("  a\u0308\n b\t c ") == "ä b c"
    assert abstract_id("  a\u0308\n b ") == abstract_id("ä b") == "83ec61e937eb"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", r"a\.txt: the file is empty"),
        (b" \n\n \n", r"a\.txt: the file is empty"),
        (b"Only a heading\n", r"a\.txt: no abstract below the heading"),
        (b"\x7fELF\x00\x01", r"a\.txt: a binary file"),
    ],
    ids=["empty", "blank", "heading only", "binary"],
)
def test_a_file_that_holds_nothing_is_named(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "a.txt").write_bytes(content)
    with pytest.raises(InputError, match=message):
        read_abstracts(tmp_path / "a.txt")


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (b"na\xefve", "byte 0xef in its text is not of the file's encoding (--encoding)"),
        (b"x" * 300_001, "this paragraph has more than 100,000 characters; are its blank lines lost?"),
        (b"a\0b", "its text holds a NUL: this is no text"),
    ],
    ids=["not UTF-8", "huge", "NUL"],
)
def test_a_bad_paragraph_is_named_and_the_rest_is_in(tmp_path: Path, broken: bytes, reason: str) -> None:
    (tmp_path / "a.txt").write_bytes(b"Heading\n\nfine\n\n" + broken + b"\n\nfine too\n")
    assert problems(tmp_path) == [Skipped("#2", reason)]
    assert [(a.text, a.sources) for a in read_abstracts(tmp_path)] == [
        ("fine", ("a.txt#1",)),
        ("fine too", ("a.txt#3",)),
    ]


def test_a_bad_path_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere: no such file or folder"):
        find_files([tmp_path / "nowhere"])
    with pytest.raises(InputError, match=r"no file of abstracts \(\.txt, .*\.zip, each also \.gz\) in this folder"):
        find_files([tmp_path])
    (tmp_path / "a.pdf").write_bytes(b"%PDF-1.7\n1 0 obj")
    with pytest.raises(InputError, match=r"a\.pdf: not a kind of file that is read here"):
        read_abstracts(tmp_path / "a.pdf")


def test_what_editors_leave_behind_does_no_harm(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes("\ufeffMy heading\r\n\r\nOne is\r\nhere.\r\n \r\n\r\n\r\nTwo.\r\n".encode())
    assert [(a.text, a.sources, a.heading) for a in read_abstracts(file, tmp_path)] == [
        ("One is here.", ("a.txt#1",), "My heading"),
        ("Two.", ("a.txt#2",), "My heading"),
    ]


def test_a_file_without_a_heading_loses_nothing(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    first = "A long first line is an abstract. " * 10
    file.write_text(f"{first}\n\nTwo.\n")
    assert [a.text for a in read_abstracts(file)] == [first.strip(), "Two."]
    file.write_text("We propose a method for sorting keys, which is faster than\nanything before it.\n")
    assert [a.text for a in read_abstracts(file)] == [
        "We propose a method for sorting keys, which is faster than anything before it."
    ]


def test_one_abstract_a_file_has_its_title_above(tmp_path: Path) -> None:
    text = "Zebra stripes confuse flies\n\nWe show that stripes of a zebra confuse flies.\n"
    (tmp_path / "a.txt").write_text(text)
    (tmp_path / "b.txt").write_text("ICML 2026 Papers\n\nWe show that penguins huddle.\n")
    found = read_abstracts(tmp_path)
    assert [abstract.title for abstract in found] == ["Zebra stripes confuse flies", None]
    assert [abstract.label for abstract in found] == ["Zebra stripes confuse flies", "We show that penguins huddle."]


def test_archives_are_opened(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "a.txt.gz", "wt") as file:
        file.write("H\n\nOne.\n\nTwo.\n")
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as archive:
        archive.writestr("deep/c.txt", "H\n\nThree.\n\nFour.\n")
        archive.writestr("picture.png", b"\x89PNG")
    assert [(a.text, a.sources[0]) for a in read_abstracts(tmp_path)] == [
        ("One.", "a.txt.gz#1"), ("Two.", "a.txt.gz#2"),
        ("Three.", "b.zip/deep/c.txt#1"), ("Four.", "b.zip/deep/c.txt#2"),
    ]  # fmt: skip


def test_a_broken_archive_gives_what_it_has(tmp_path: Path) -> None:
    whole = gzip.compress(b"H\n\n" + b"\n\n".join(b"Abstract number %d." % n for n in range(20_000)))
    (tmp_path / "a.txt.gz").write_bytes(whole[: len(whole) // 2])
    assert len(read_abstracts(tmp_path)) > 1000
    assert [item.breaks_off for item in problems(tmp_path)] == [True]
    (tmp_path / "b.zip").write_bytes(b"PK\x03\x04 no archive")
    with pytest.raises(InputError, match=r"b\.zip: File is not a zip file"):
        find_files([tmp_path / "b.zip"])


def test_an_encoding_can_be_named(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("H\n\nna\xefve\n".encode("cp1252"))
    (file,) = find_files([tmp_path])
    assert [item.text for item in read_records(file, encoding="cp1252") if isinstance(item, Record)] == ["naïve"]
    with pytest.raises(InputError, match=r"a\.txt: unknown encoding: klingon"):
        list(read_records(file, encoding="klingon"))


def test_of_a_beir_folder_only_the_corpus_is_read(tmp_path: Path) -> None:
    (tmp_path / "corpus.jsonl").write_text('{"_id": "d1", "title": "T", "text": "Zebras have stripes."}\n')
    (tmp_path / "queries.jsonl").write_text('{"_id": "q1", "text": "what do zebras have?"}\n')
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t1\n")
    assert [Path(file.path).name for file in find_files([tmp_path])] == ["corpus.jsonl"]


def test_two_records_at_one_place_have_two_places(tmp_path: Path) -> None:
    (tmp_path / "a.bib").write_text("@article{k, abstract={One.}}\n@article{k, abstract={Two.}}\n")
    assert [(a.text, a.sources) for a in read_abstracts(tmp_path)] == [("One.", ("a.bib#k",)), ("Two.", ("a.bib#k~2",))]
