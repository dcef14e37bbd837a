"""A library that follows its sources: what is added, edited and taken away there is so here, and nothing else is."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from rag.errors import InputError, OutsideError
from rag.index import ingest as module
from rag.index import store as store_module
from rag.index.catalog import Catalog
from rag.index.ingest import IngestReport, ingest, remove, remove_source
from rag.index.store import Store
from rag.records import Where

ZEBRAS = "Zebras have stripes, which confuse flies."
LIONS = "Lions have manes, which impress lions."
PENGUINS = "Penguins huddle against the cold of the south."
OWLS = "Owls hear a mouse under the snow."

Feed = Callable[..., IngestReport]


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    folder = tmp_path / "in"
    folder.mkdir()
    return folder


@pytest.fixture
def feed(empty_store: Store, sources: Path) -> Feed:
    """Writes files into the folder of sources (None deletes one), ingests it, and returns the report."""

    def run(**files: str | None) -> IngestReport:
        for name, text in files.items():
            file = sources / name.replace("_", ".")
            file.unlink(missing_ok=True) if text is None else file.write_text(text, encoding="utf-8")
        return ingest(empty_store, [sources], 128)

    return run


def texts(*abstracts: str) -> str:
    return "Animals\n\n" + "\n\n".join(abstracts)


def lines(*records: tuple[str, str]) -> str:
    return "".join(json.dumps({"_id": key, "text": text}) + "\n" for key, text in records)


def numbers(report: IngestReport) -> tuple[int, int, int, int]:
    return len(report.added), len(report.updated), len(report.removed), report.unchanged


def held(store: Store) -> dict[str, tuple[str, ...]]:
    """Text -> sources; and every index agrees with the catalog."""
    assert sorted(store.vectors.ids()) == sorted(store.catalog.chunk_ids())
    assert sorted(store.lexical.ids) == sorted(store.catalog.ids())
    return {abstract.text: abstract.sources for abstract in store.abstracts()}


def test_what_is_new_is_added_and_a_second_run_changes_nothing(empty_store: Store, feed: Feed) -> None:
    assert numbers(feed(a_txt=texts(ZEBRAS, LIONS))) == (2, 0, 0, 0)
    generation = empty_store.catalog.generation
    again = feed()
    assert numbers(again) == (0, 0, 0, 2)
    assert str(again) == "read 2 abstracts from 1 file: nothing changed; the store holds 2"
    assert empty_store.catalog.generation == generation


def test_what_is_edited_is_updated(empty_store: Store, feed: Feed) -> None:
    feed(a_txt=texts(ZEBRAS, LIONS))
    edited = LIONS.replace("lions.", "lionesses.")
    report = feed(a_txt=texts(ZEBRAS, edited))
    assert numbers(report) == (0, 1, 0, 1)
    assert held(empty_store) == {ZEBRAS: ("a.txt#1",), edited: ("a.txt#2",)}
    assert empty_store.matching("lionesses", 5)
    assert [one for one, _ in empty_store.matching("impress", 5)] == list(report.updated)


def test_what_vanished_from_a_file_or_with_a_file_is_removed(empty_store: Store, feed: Feed) -> None:
    feed(a_txt=texts(ZEBRAS, LIONS), b_txt=texts(PENGUINS, OWLS))
    report = feed(a_txt=texts(ZEBRAS), b_txt=None)
    assert numbers(report) == (0, 0, 3, 1)
    assert held(empty_store) == {ZEBRAS: ("a.txt#1",)}
    assert empty_store.matching("penguins owls lions", 5) == []


def test_what_came_from_elsewhere_stays(empty_store: Store, feed: Feed, tmp_path: Path) -> None:
    other = tmp_path / "other.txt"
    other.write_text(texts(OWLS))
    ingest(empty_store, [other], 128)
    feed(a_txt=texts(ZEBRAS))
    feed(a_txt=texts(LIONS))
    assert set(held(empty_store)) == {OWLS, LIONS}


def test_one_file_of_a_folder_can_be_brought_up_to_date_alone(empty_store: Store, feed: Feed, sources: Path) -> None:
    feed(a_txt=texts(ZEBRAS), b_txt=texts(OWLS))
    (sources / "a.txt").write_text(texts(LIONS))
    (sources / "b.txt").unlink()
    assert numbers(ingest(empty_store, [sources / "a.txt"], 128)) == (0, 1, 0, 0)
    assert set(held(empty_store)) == {LIONS, OWLS}


def test_a_new_first_line_moves_all_places_and_encodes_one_abstract(
    empty_store: Store, feed: Feed, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = [(f"k{n}", f"Abstract {n} deals with the animal of number {n}.") for n in range(70)]
    feed(a_jsonl=lines(*many))
    encoded: list[str] = []
    embed = module.embed
    monkeypatch.setattr(module, "embed", lambda new, *rest: (encoded.extend(a.text for a in new), embed(new, *rest))[1])
    report = feed(a_jsonl=lines(("k", ZEBRAS), *many))
    assert numbers(report) == (1, 0, 0, 70)
    assert encoded == [ZEBRAS]
    assert held(empty_store)["Abstract 69 deals with the animal of number 69."] == ("a.jsonl:71",)


def test_an_edited_record_is_known_by_its_key_wherever_it_stands(empty_store: Store, feed: Feed) -> None:
    feed(a_jsonl=lines(("z", ZEBRAS), ("l", LIONS)))
    report = feed(a_jsonl=lines(("o", OWLS), ("l", LIONS), ("z", ZEBRAS + " Often.")))
    assert numbers(report) == (1, 1, 0, 1)
    assert set(held(empty_store)) == {OWLS, LIONS, ZEBRAS + " Often."}


def test_a_title_that_is_new_is_an_update_that_search_sees(empty_store: Store, feed: Feed) -> None:
    feed(a_jsonl=lines(("z", ZEBRAS)))
    report = feed(a_jsonl=json.dumps({"_id": "z", "text": ZEBRAS, "title": "On tsetse", "year": 1999}) + "\n")
    assert numbers(report) == (0, 1, 0, 0)
    (abstract,) = empty_store.abstracts()
    assert (abstract.title, abstract.year, abstract.label) == ("On tsetse", 1999, "On tsetse — 1999")
    assert empty_store.matching("tsetse", 5)
    assert len(empty_store.read(abstract.id).all_vectors) == 2


def test_the_same_text_in_two_files_is_one_abstract_until_both_are_gone(empty_store: Store, feed: Feed) -> None:
    feed(a_txt=texts(ZEBRAS))
    report = feed(b_jsonl=json.dumps({"doi": "10.1234/z", "abstract": ZEBRAS.replace(" ", "  ")}) + "\n")
    assert (numbers(report), report.sources) == ((0, 0, 0, 1), 1)
    assert held(empty_store) == {ZEBRAS: ("a.txt#1", "b.jsonl:1")}
    assert empty_store.catalog.find("10.1234/Z") == empty_store.catalog.ids()
    feed(b_jsonl=None, c_txt=texts(OWLS))
    assert held(empty_store) == {ZEBRAS: ("a.txt#1",), OWLS: ("c.txt#1",)}
    assert empty_store.catalog.find("10.1234/z") == []
    assert numbers(feed(a_txt=None)) == (0, 0, 1, 1)
    assert set(held(empty_store)) == {OWLS}


def test_a_dry_run_says_what_would_be_and_does_nothing(empty_store: Store, feed: Feed, sources: Path) -> None:
    feed(a_txt=texts(ZEBRAS, LIONS, OWLS))
    (sources / "a.txt").write_text(texts(ZEBRAS, LIONS + " So they say."))
    (sources / "b.txt").write_text(texts(PENGUINS))
    before, generation = held(empty_store), empty_store.catalog.generation
    report = ingest(empty_store, [sources], 128, dry_run=True)
    assert str(report) == (
        "read 3 abstracts from 2 files: would be: 1 added, 1 updated, 1 removed, 1 unchanged; the store would hold 3"
    )
    assert (held(empty_store), empty_store.catalog.generation) == (before, generation)
    done = ingest(empty_store, [sources], 128)
    assert (done.added, done.updated, done.removed) == (report.added, report.updated, report.removed)
    assert done.total == report.total == 3


def test_what_is_skipped_is_named_and_what_stood_there_stays(empty_store: Store, feed: Feed, sources: Path) -> None:
    feed(a_jsonl=lines(("z", ZEBRAS), ("l", LIONS), ("o", OWLS)))
    (sources / "a.jsonl").write_bytes(lines(("z", ZEBRAS)).encode() + b'{"text": "\xff"}\n' + b'{"_id": "o"}\n')
    report = feed()
    assert [(left.source, left.reason) for left in report.skipped] == [
        ("a.jsonl:2", "byte 0xff in its text is not of the file's encoding (--encoding)"),
        ("a.jsonl:3", "it has no abstract"),
    ]
    assert set(held(empty_store)) == {ZEBRAS, LIONS, OWLS}
    assert len(feed().skipped) == 2  # named every time, though the file has not changed


def test_a_file_that_breaks_off_takes_nothing_away(empty_store: Store, feed: Feed, sources: Path) -> None:
    many = [{"id": f"k{n}", "abstract": f"Abstract {n} deals with animal {n}."} for n in range(50)]
    feed(a_json=json.dumps(many))
    whole = (sources / "a.json").read_text()
    report = feed(a_json=whole[: len(whole) // 2])
    assert numbers(report)[:3] == (0, 0, 0)
    assert len(report.skipped) == 1
    assert len(held(empty_store)) == 50


def test_a_bad_file_among_good_ones_is_named(empty_store: Store, feed: Feed, sources: Path) -> None:
    (sources / "bad.csv").write_text("name,size\nzebra,3\n")
    report = feed(a_txt=texts(ZEBRAS))
    assert len(report.skipped) == 1
    assert report.skipped[0].source == "bad.csv"
    assert "--field text=COLUMN" in report.skipped[0].reason
    assert set(held(empty_store)) == {ZEBRAS}


def test_where_nothing_can_be_read_it_is_an_error(empty_store: Store, sources: Path) -> None:
    (sources / "a.jsonl").write_text('{"title": "No text"}\n{"title": "None either"}\n')
    with pytest.raises(InputError, match=r"a\.jsonl:1: it has no abstract \(and 1 more\): no abstract could be read"):
        ingest(empty_store, [sources], 128)


def test_a_source_that_is_gone_altogether_is_an_error_and_its_abstracts_stay(
    empty_store: Store, feed: Feed, sources: Path
) -> None:
    feed(a_txt=texts(ZEBRAS))
    with pytest.raises(InputError, match=r"1 abstracts of the store came from there, and stay \(rag remove --source"):
        feed(a_txt=None)
    assert set(held(empty_store)) == {ZEBRAS}
    assert remove_source(empty_store, str(sources)) == 1
    assert held(empty_store) == {}


def test_removed_abstracts_are_gone_until_their_source_is_read_again(empty_store: Store, feed: Feed) -> None:
    feed(a_jsonl=lines(("z", ZEBRAS), ("l", LIONS)))
    assert [abstract.text for abstract in remove(empty_store, ["z"])] == [ZEBRAS]
    assert set(held(empty_store)) == {LIONS}
    assert numbers(feed()) == (1, 0, 0, 1)
    with pytest.raises(InputError, match="nobody: no abstract of the store has this id or key"):
        remove(empty_store, ["l", "nobody"])
    assert set(held(empty_store)) == {ZEBRAS, LIONS}


def test_a_source_is_removed_by_its_name_too(empty_store: Store, feed: Feed) -> None:
    feed(a_txt=texts(ZEBRAS, OWLS), b_txt=texts(OWLS))
    assert remove_source(empty_store, "a.txt") == 1
    assert held(empty_store) == {OWLS: ("b.txt#1",)}
    with pytest.raises(InputError, match="nothing in the store came from there"):
        remove_source(empty_store, "a.txt")


def test_near_duplicates_are_found_and_forgotten(empty_store: Store, feed: Feed) -> None:
    long = " ".join(f"We measure the {n}th stripe of a zebra in the field." for n in range(12))
    feed(a_txt=texts(long, OWLS), b_txt=texts(long.upper().replace(".", ";")))
    (pair,) = empty_store.catalog.twins()
    assert pair[2] == 1.0
    assert set(pair[:2]) == empty_store.group(pair[0])
    feed(b_txt=texts(PENGUINS))
    assert empty_store.catalog.twins() == []
    assert empty_store.group(pair[0]) == frozenset()


def test_filters_say_which_abstracts_count(empty_store: Store, feed: Feed) -> None:
    records = [
        {"text": ZEBRAS, "authors": ["Ada Lovelace"], "year": 1999, "venue": "ICML"},
        {"text": LIONS, "authors": ["Érdos, P."], "year": 2005, "venue": "Nature Zoology"},
        {"text": OWLS},
    ]
    feed(a_jsonl="".join(json.dumps(record) + "\n" for record in records), b_txt=texts(PENGUINS))
    by_id = {abstract.id: abstract.text for abstract in empty_store.abstracts()}
    for where, expected in (
        (Where(first=2000), {LIONS}), (Where(last=2000), {ZEBRAS}), (Where(1999, 2005), {ZEBRAS, LIONS}),
        (Where(venue="icml"), {ZEBRAS}), (Where(author="érdos"), {LIONS}), (Where(source="b.txt"), {PENGUINS}),
        (Where(first=1999, venue="nature"), {LIONS}), (Where(venue="100%"), set()), (Where(author="'; DROP"), set()),
    ):  # fmt: skip
        assert {by_id[one] for one in empty_store.catalog.where(where)} == expected, where


def test_a_killed_ingest_goes_on_where_it_was(
    empty_store: Store, sources: Path, feed: Feed, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = [(f"k{n}", f"Abstract {n} deals with the animal of number {n}.") for n in range(150)]
    (sources / "a.jsonl").write_text(lines(*many))
    calls: list[int] = []
    put = Catalog.put_twins

    def killed(*arguments: object) -> None:
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        put(*arguments)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(Catalog, "put_twins", killed)
        with pytest.raises(KeyboardInterrupt):
            feed()
    assert len(empty_store) == 64  # one batch is in
    assert len(empty_store.vectors) == 128  # the second had got as far as Chroma
    assert str(empty_store.status()["unfinished"]).startswith("yes")
    encoded: list[int] = []
    embed = module.embed
    monkeypatch.setattr(module, "embed", lambda new, *rest: (encoded.append(len(new)), embed(new, *rest))[1])
    assert numbers(feed()) == (150, 0, 0, 0)
    assert sum(encoded) == 86
    assert len(held(empty_store)) == 150
    assert empty_store.status()["unfinished"] == "no"


def test_what_a_killed_ingest_left_of_a_text_that_was_edited_since_is_swept_up(
    empty_store: Store, feed: Feed, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(Catalog, "put_twins", lambda *_: pytest.fail("killed"))
        with pytest.raises(pytest.fail.Exception):
            feed(a_txt=texts(ZEBRAS))
    assert len(empty_store.vectors) == 1
    feed(a_txt=texts(OWLS))
    assert set(held(empty_store)) == {OWLS}


def test_a_full_disk_is_told_before_anything_is_written(
    empty_store: Store, feed: Feed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_module, "FREE_BYTES_TO_WRITE", 1 << 60)
    with pytest.raises(OutsideError, match=r"MB free on its disk, .* MB are needed; nothing was written"):
        feed(a_txt=texts(ZEBRAS))
    monkeypatch.undo()
    monkeypatch.setattr(store_module, "BYTES_AN_ABSTRACT", 1 << 60)
    with pytest.raises(OutsideError, match="nothing was written"):
        feed()
    assert held(empty_store) == {}
    monkeypatch.undo()
    assert numbers(feed()) == (1, 0, 0, 0)


def test_a_disk_that_fills_up_keeps_what_is_in(
    empty_store: Store, feed: Feed, sources: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (sources / "a.jsonl").write_text(lines(*((f"k{n}", f"Abstract {n} is of animal {n}.") for n in range(100))))
    free = iter([10**10, 0])
    with monkeypatch.context() as patch:
        patch.setattr(module.shutil, "disk_usage", lambda _: type("Usage", (), {"free": next(free, 10**10)}))
        patch.setattr(module, "check_space", lambda *_: None)
        patch.setattr(store_module, "check_space", lambda *_: None)
        with pytest.raises(OutsideError, match="its disk is full; what was added so far stays"):
            feed()
    assert len(empty_store) == 64
    assert numbers(feed())[0] == 100
    assert len(held(empty_store)) == 100
