"""JSON and JSON lines: the shapes that sources export, and what is broken in them."""

from __future__ import annotations

import io
import json
import tracemalloc
from collections.abc import Iterator

import pytest

from rag.corpus.characters import open_text
from rag.corpus.formats import Options
from rag.corpus.formats.jsons import read_jsonl
from rag.corpus.record import Record, Skipped
from rag.errors import InputError

GOOD = {"id": "a1", "title": "Ice", "abstract": "Ice melts in the spring."}
OTHER = {"id": "b2", "title": "Sand", "abstract": "Sand drifts over the road."}
NO_ABSTRACT = "it has no abstract"


def lines(*records: object) -> str:
    return "".join(f"{one if isinstance(one, str) else json.dumps(one)}\n" for one in records)


def test_a_paperlists_record_has_all_its_fields(read):
    record = {
        "id": "xYz123_-ab", "title": "Sparse Attention\nat Scale", "author": "Ada Lovelace;Alan Turing",
        "author_site": "Ada Lovelace, Alan Turing", "abstract": "We make attention sparse.", "status": "Poster",
        "keywords": "attention;sparsity", "primary_area": "deep learning",
        "site": "https://openreview.net/forum?id=xYz123_-ab",
    }  # fmt: skip
    records, skipped = read(json.dumps([record]), "iclr2024.json")
    assert records == [
        Record(
            text="We make attention sparse.",
            place="#xYz123_-ab",
            title="Sparse Attention at Scale",
            authors=("Ada Lovelace", "Alan Turing"),
            url="https://openreview.net/forum?id=xYz123_-ab",
            keys=("openreview:xYz123_-ab",),
            keywords=("attention", "sparsity"),
        )
    ]
    assert skipped == []


@pytest.mark.parametrize("wrap", [lambda value: value, lambda value: {"value": value}], ids=["v1", "v2"])
def test_openreview_notes_of_both_versions(read, wrap):
    content = {"title": "A Note", "abstract": "We note it.", "authors": ["Ada L", "Alan T"], "venue": "ICLR 2024"}
    note = {"id": "Ab3dEf", "forum": "Ab3dEf", "cdate": 1695000000000}
    note["content"] = {name: wrap(value) for name, value in content.items()}
    records, _ = read(json.dumps({"notes": [note], "count": 1}), "notes.json")
    assert records == [
        Record(
            text="We note it.",
            place="#Ab3dEf",
            title="A Note",
            authors=("Ada L", "Alan T"),
            year=2023,
            venue="ICLR 2024",
            url="https://openreview.net/forum?id=Ab3dEf",
            keys=("openreview:Ab3dEf",),
        )
    ]


def test_an_arxiv_snapshot_called_json_is_read_line_by_line(read):
    record = {
        "id": "0704.0001", "authors": "C. Bal\\'azs, E. L. Berger", "title": "Diphotons\n  at the LHC",
        "abstract": "  A calculation\n of the cross section.\n", "doi": "10.1103/PhysRevD.76.013009",
        "journal-ref": "Phys.Rev.D76:013009,2007", "categories": "hep-ph", "update_date": "2008-11-26",
        "versions": [{"version": "v1", "created": "Mon, 2 Apr 2007 19:18:42 GMT"}],
        "authors_parsed": [["Bal\\'azs", "C.", ""], ["Berger", "E. L.", "Jr."]],
    }  # fmt: skip
    records, _ = read(lines(record, GOOD), "arxiv-metadata.json")
    assert records[0] == Record(
        text="A calculation of the cross section.",
        place=":1",
        title="Diphotons at the LHC",
        authors=("C. Balázs", "E. L. Berger Jr."),
        year=2007,
        venue="Phys.Rev.D76:013009,2007",
        url="https://doi.org/10.1103/physrevd.76.013009",
        keys=("doi:10.1103/physrevd.76.013009", "arxiv:0704.0001"),
        keywords=("hep-ph",),
    )
    assert records[1].place == ":2"


def test_semantic_scholar_results(read):
    paper = {
        "paperId": "649def34f8be52c8b66281af98ae884c09aef38b",
        "externalIds": {"DOI": "10.18653/v1/N18-3011", "ArXiv": "1805.02262", "PubMed": "12345", "CorpusId": 19170988},
        "title": "Construction of the Literature Graph", "abstract": "We describe a system.", "year": 2018,
        "venue": "NAACL", "authors": [{"authorId": "1", "name": "Waleed Ammar"}, {"authorId": "2", "name": "Dirk G"}],
        "references": [{"title": "Cited", "abstract": "Not a record of the file."}],
    }  # fmt: skip
    records, skipped = read(json.dumps({"total": 1, "offset": 0, "data": [paper]}), "s2.json")
    assert records == [
        Record(
            text="We describe a system.",
            place="#649def34f8be52c8b66281af98ae884c09aef38b",
            title="Construction of the Literature Graph",
            authors=("Waleed Ammar", "Dirk G"),
            year=2018,
            venue="NAACL",
            url="https://doi.org/10.18653/v1/n18-3011",
            keys=(
                "doi:10.18653/v1/n18-3011", "arxiv:1805.02262", "pmid:12345",
                "649def34f8be52c8b66281af98ae884c09aef38b",
            ),
        )
    ]  # fmt: skip
    assert skipped == []


def test_a_beir_corpus(read):
    records, _ = read(
        lines({"_id": "4983", "title": "MRI", "text": "Brain maps.", "metadata": {"year": 1999}}), "c.jsonl"
    )
    assert records == [Record(text="Brain maps.", place=":1", title="MRI", year=1999, keys=("4983",))]


def test_csl_json(read):
    item = {
        "id": "smith2020", "type": "article-journal", "title": "Soils", "abstract": "Soils hold carbon.",
        "author": [{"family": "Smith", "given": "Jane"}, {"family": "Müller", "given": "Karl"}],
        "issued": {"date-parts": [[2020, 1]]}, "container-title": "Geoderma", "DOI": "10.1016/j.geoderma.2020.1",
    }  # fmt: skip
    records, _ = read(json.dumps({"items": [item]}), "zotero.json")
    assert records == [
        Record(
            text="Soils hold carbon.",
            place="#smith2020",
            title="Soils",
            authors=("Jane Smith", "Karl Müller"),
            year=2020,
            venue="Geoderma",
            url="https://doi.org/10.1016/j.geoderma.2020.1",
            keys=("doi:10.1016/j.geoderma.2020.1", "smith2020"),
        )
    ]


def test_an_openalex_work_has_its_text_from_its_index(read):
    work = {
        "id": "https://openalex.org/W2741809807", "doi": "https://doi.org/10.7717/peerj.4375",
        "display_name": "The state of OA", "publication_year": 2018,
        "authorships": [{"author": {"display_name": "Heather Piwowar"}}, {"author": {"display_name": "Jason Priem"}}],
        "primary_location": {"source": {"display_name": "PeerJ"}},
        "abstract_inverted_index": {"open": [1, 4], "Most": [0], "is": [2], "not": [3], "far": [10**12], "x": "y"},
    }  # fmt: skip
    records, _ = read(json.dumps({"meta": {"count": 1}, "results": [work]}), "works.json")
    assert records == [
        Record(
            text="Most open is not open far",
            place="#W2741809807",
            title="The state of OA",
            authors=("Heather Piwowar", "Jason Priem"),
            year=2018,
            venue="PeerJ",
            url="https://doi.org/10.7717/peerj.4375",
            keys=("doi:10.7717/peerj.4375", "W2741809807"),
        )
    ]


def test_crossref_answers_with_one_work_or_many(read):
    work = {
        "DOI": "10.1038/X1", "title": ["Cells"], "container-title": ["Nature"],
        "author": [{"given": "Rosalind", "family": "Franklin", "sequence": "first"}],
        "issued": {"date-parts": [[1953, 4, 25]]},
        "abstract": "<jats:title>Abstract</jats:title><jats:p>Cells &amp; H<jats:sub>2</jats:sub>O.</jats:p>",
    }  # fmt: skip
    one, _ = read(json.dumps({"status": "ok", "message-type": "work", "message": work}), "one.json")
    many, _ = read(json.dumps({"status": "ok", "message": {"total-results": 1, "items": [work]}}), "many.json")
    assert one == many
    assert one[0].text.endswith("Cells & H₂O.")
    assert (one[0].place, one[0].title, one[0].venue, one[0].year) == ("#10.1038/X1", "Cells", "Nature", 1953)
    assert (one[0].authors, one[0].keys) == (("Rosalind Franklin",), ("doi:10.1038/x1",))


def test_zotero_items_and_search_hits_hold_their_fields_one_level_down(read):
    item = {"key": "AB12", "data": {"title": "T", "abstractNote": "X is.", "publicationTitle": "J", "date": "May 2001"}}
    hit = {"_id": "77", "_source": {"title": "U", "abstract": "Y is."}}
    zotero, _ = read(json.dumps([item]), "z.json")
    hits, _ = read(json.dumps({"hits": {"total": 1, "hits": [hit]}}), "h.json")
    assert zotero == [Record(text="X is.", place="#AB12", title="T", year=2001, venue="J", keys=("AB12",))]
    assert hits == [Record(text="Y is.", place="#77", title="U", keys=("77",))]


def test_an_object_of_objects_is_keyed_by_their_names(read):
    records, skipped = read(json.dumps({"p1": {"abstract": "One."}, "p2": {"title": "No text"}, "p3": GOOD}), "o.json")
    assert [(one.place, one.keys) for one in records] == [("#p1", ("p1",)), ("#a1", ("a1",))]
    assert skipped == [Skipped("#p2", NO_ABSTRACT)]


def test_one_record_alone_and_records_one_after_another(read):
    assert [one.place for one in read(json.dumps(GOOD, indent=1), "one.json")[0]] == ["#a1"]
    several = json.dumps(GOOD, indent=1) + "\n" + json.dumps(OTHER, indent=1)
    assert [one.place for one in read(several, "several.json")[0]] == ["#a1", "#b2"]


@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
def test_markup_accents_and_other_scripts(read, name):
    records = [
        {
            "title": "A <i>big</i> R&amp;D",
            "abstract": "CO<sub>2</sub> &amp; p<0.05.",
            "author": "G\\\"odel, K. and {\\'E}va B",
        },
        {"title": "عنوان", "abstract": "هذا ملخص قصير 🧪.", "year": "2021"},
    ]
    content = json.dumps(records, ensure_ascii=False) if name == "a.json" else lines(*records)
    content = "\ufeff" + content.replace("\n", "\r\n")
    first, second = read(content, name)[0]
    assert (first.title, first.text) == ("A big R&D", "CO₂ & p<0.05.")
    assert first.authors == ("K. Gödel", "Éva B")
    assert (second.title, second.text, second.year) == ("عنوان", "هذا ملخص قصير 🧪.", 2021)


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        ('{"abstract": "a" b}', "not JSON: Expecting ',' delimiter at column 18"),
        ('["abstract"]', "not an object"),
        ('{"abstract": ' + "[" * 5000 + "]" * 5000 + "}", "its brackets are nested too deep"),
        ('{"abstract": ' + "[" * 400 + "]" * 400 + "}", NO_ABSTRACT),
        ('{"abstract": "x", "year": ' + "9" * 5000 + "}", "not JSON: it has a number of thousands of digits"),
        ('{"abstract": NaN, "year": -Infinity}', NO_ABSTRACT),
        ('{"abstract": "a\\u0000b"}', "its text holds a NUL: this is no text"),
        ('{"title": "none"}', NO_ABSTRACT),
        ('{"abstract": "cut', "not JSON: Unterminated string starting at column 14"),
        ('{"abstract": "' + "x" * 10_000_000 + '"}', "its abstract has 10,000,000 characters (at most 100,000)"),
        ('{"abstract": "' + "x" * 16_000_000 + '"}', "it is too long for a record (at most 16,000,000 characters)"),
    ],
    ids=range(11),
)
def test_a_broken_line_is_named_and_the_rest_is_in(read, broken, reason):
    records, skipped = read(lines(GOOD, "", broken, OTHER), "a.jsonl")
    assert [one.place for one in records] == [":1", ":4"]
    assert skipped == [Skipped(":3", reason)]


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        ('{"abstract": "a" b}', "not JSON: Expecting ',' delimiter at column 18"),
        ('{"abstract": "a 5" disk"},\n', "not JSON: Expecting ',' delimiter at column 20"),
        ('{"abstract": ' + "[" * 5000 + "]" * 5000 + "}", "its brackets are nested too deep"),
        ('{"abstract": NaN, "year": -Infinity}', NO_ABSTRACT),
        ('{"title": "none"}', NO_ABSTRACT),
        ('{"abstract": "' + "x" * 10_000_000 + '"}', "its abstract has 10,000,000 characters (at most 100,000)"),
        ('{"abstract": "' + "x" * 17_000_000 + '"}', "it is too long for a record (at most 16,000,000 characters)"),
    ],
    ids=range(7),
)
@pytest.mark.parametrize("around", ["[%s]", '{"n": 1, "data": [%s]}'], ids=["array", "object"])
def test_a_broken_element_is_named_and_the_rest_is_in(read, broken, reason, around):
    comma = "" if broken.endswith("\n") else ",\n"
    content = around % f"{json.dumps(GOOD)},\n{broken}{comma}{json.dumps(OTHER)}"
    records, skipped = read(content, "a.json")
    assert [one.place for one in records] == ["#a1", "#b2"]
    assert skipped == [Skipped("#2", reason)]


def test_elements_that_are_no_objects_are_named(read):
    records, skipped = read(f'["abstract", 17, null, [1], {json.dumps(GOOD)}]', "a.json")
    assert [one.place for one in records] == ["#a1"]
    assert skipped == [Skipped(f"#{number}", "not an object") for number in range(1, 5)]


def test_a_key_that_could_not_be_cited_gives_way_to_the_number(read):
    content = json.dumps([{"id": key, "abstract": "X."} for key in ("a b", "a#b", "k" * 300, {"a": 1}, 17)])
    assert [one.place for one in read(content, "a.json")[0]] == ["#1", "#2", "#3", "#4", "#17"]


@pytest.mark.parametrize("around", ["[%s", '{"data": [%s'], ids=["array", "object"])
def test_what_comes_before_a_truncation_is_in(read, around):
    records, skipped = read(around % f'{json.dumps(GOOD)}, {json.dumps(OTHER)}, {{"id": "c3", "abstr', "a.json")
    assert [one.place for one in records] == ["#a1", "#b2"]
    assert skipped == [Skipped("#3", "not JSON: it breaks off", breaks_off=True)]


def test_what_is_no_json_between_records_breaks_the_file_off(read):
    records, skipped = read(f"[{json.dumps(GOOD)}, oops, {json.dumps(OTHER)}]", "a.json")
    assert [one.place for one in records] == ["#a1"]
    assert skipped == [Skipped("#2", "not JSON: unexpected 'oops'", breaks_off=True)]


def test_a_truncated_record_alone_is_not_half_in(read):
    assert read('{"title": "T", "authors": [{"name": "A"}], "abstract": "It beg', "a.json") == (
        [],
        [Skipped("#1", "not JSON: it breaks off", breaks_off=True)],
    )


def test_a_file_that_is_no_json_at_all(read):
    with pytest.raises(InputError, match="not JSON: it begins with 'H'"):
        read("Hello", "a.json")


def test_brackets_without_end_neither_hang_nor_raise(read):
    for content in ("[" * 3_000_000, '{"a":' * 300_000, "[" + '{"a":[' * 300_000, "[" + "\\" * 1_000_000):
        records, skipped = read(content, "a.json")
        assert records == []
        assert skipped[-1].breaks_off


def test_an_object_too_long_for_one_record_is_gone_through(read):
    content = json.dumps({"n": 1, "papers": [{"abstract": f"{number} " + "x" * 90_000} for number in range(200)]})
    assert len(content) > 16_000_000
    records, skipped = read(content, "a.json")
    assert [one.place for one in records] == [f"#{number}" for number in range(1, 201)]
    assert skipped == []


@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
def test_a_bad_byte_costs_its_record_alone(read, name):
    between = b",\n" if name == "a.json" else b"\n"
    bad = b'{"id": "x", "abstract": "na\xefve"}'
    content = between.join([json.dumps(GOOD).encode(), bad, json.dumps(OTHER).encode()])
    records, skipped = read(b"[" + content + b"]" if name == "a.json" else content, name)
    assert [one.title for one in records] == ["Ice", "Sand"]
    place = "#x" if name == "a.json" else ":2"
    assert skipped == [Skipped(place, "byte 0xef in its text is not of the file's encoding (--encoding)")]


def test_records_of_one_key_are_both_in_and_of_two_like_names_the_last_counts(read):
    records, _ = read('[{"id":"a","abstract":"One."},{"id":"a","abstract":"Old.","abstract":"Two."}]', "a.json")
    assert [(one.place, one.text) for one in records] == [("#a", "One."), ("#a", "Two.")]


def test_half_a_surrogate_pair_is_a_question_mark(read):
    assert read('{"abstract": "a \\ud83e b \\ud83e\\uddea"}\n', "a.jsonl")[0][0].text == "a ? b 🧪"


@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
def test_the_abstract_may_be_named_by_the_user(read, name):
    records = [{"id": "a", "body": "One.", "abstract": "Not this."}, {"id": "b", "body": "Two."}]
    content = json.dumps({"rows": records}) if name == "a.json" else lines(*records)
    assert [one.text for one in read(content, name, "text=Body")[0]] == ["One.", "Two."]


class _Lines(io.RawIOBase):
    """Gives one line again and again, and holds no more."""

    def __init__(self, line: bytes, times: int) -> None:
        self._chunks: Iterator[bytes] = (line for _ in range(times))

    def readable(self) -> bool:
        return True

    def readinto(self, buffer) -> int:
        chunk = next(self._chunks, b"")
        buffer[: len(chunk)] = chunk
        return len(chunk)


def test_sixty_megabytes_of_lines_are_read_in_little_memory():
    line = json.dumps({"title": "Ice", "abstract": "Ice melts. " * 550}).encode() + b"\n"
    text = open_text(io.BufferedReader(_Lines(line, 10_000), 8192))
    tracemalloc.start()
    try:
        count = sum(1 for _ in read_jsonl(text, Options()))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(line) * 10_000 > 60_000_000
    assert count == 10_000
    assert peak < 25_000_000
