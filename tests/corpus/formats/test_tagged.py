"""RIS and PubMed's MEDLINE format, as reference managers and PubMed write them."""

from __future__ import annotations

import pytest

from rag.corpus.formats.pieces import TOO_LONG
from rag.corpus.record import Record, Skipped
from rag.errors import InputError

FULL_RIS = """TY  - JOUR
AU  - Lovelace, Ada B., Jr.
AU  - Öztürk, Éva
TI  - Notes on an engine
that runs over two lines
T2  - Journal of Engines
PY  - 1843/09/01/
AB  - The engine weaves algebra &amp; <i>patterns</i>.
It has H<sub>2</sub>O.

A second paragraph.
KW  - engines
algebra
KW  - looms
UR  - https://example.org/a;jsessionid=1;https://example.org/b
DO  - https://doi.org/10.1000/ABC.1
AN  - WOS:000123
N1  - A note.
ER  -
"""

FULL_MEDLINE = """
PMID- 123
OWN - NLM
DP  - 1999 Jan-Feb
TI  - [A title that runs
      over two lines.]
LID - S0140-6736(20)1 [pii]
LID - 10.1000/abc.2 [doi]
AB  - BACKGROUND: Water is wet.
      METHODS: We looked. p &lt; 0.05.
CI  - Copyright 1999.
FAU - Müller, Éva A
AU  - Müller EA
FAU - Doe, J
AU  - Doe J
CN  - The Water Group
JT  - Journal of water
TA  - J Water
OT  - *wetness
MH  - Humans
MH  - *Water/*analysis
"""


def ris(number: int, abstract: str) -> str:
    return f"TY  - JOUR\nTI  - Title {number}\nAB  - {abstract}\nER  - \n\n"


def medline(pmid: int, abstract: str) -> str:
    return f"PMID- {pmid}\nTI  - Title {pmid}.\nAB  - {abstract}\n\n"


def test_a_ris_record_has_all_its_fields(read):
    assert read(FULL_RIS, "a.ris") == (
        [
            Record(
                text="The engine weaves algebra & patterns. It has H₂O. A second paragraph.",
                place=":1",
                title="Notes on an engine that runs over two lines",
                authors=("Ada B. Lovelace Jr.", "Éva Öztürk"),
                year=1843,
                venue="Journal of Engines",
                url="https://example.org/a;jsessionid=1",
                keys=("doi:10.1000/abc.1", "WOS:000123"),
                keywords=("engines", "algebra", "looms"),
            )
        ],
        [],
    )


def test_the_older_tags_of_ris_are_known(read):
    old = "TY  - JOUR\nT1  - Old\nA1  - Doe, J.\nY1  - 1999\nN2  - An abstract.\nJF  - The Journal\nID  - 7\nER  - \n"
    records, _ = read(old, "old.ris")
    assert records == [
        Record("An abstract.", ":1", title="Old", authors=("J. Doe",), year=1999, venue="The Journal", keys=("7",))
    ]


def test_a_ris_record_without_its_end_is_a_record(read):
    cut = ris(1, "One.").replace("ER  - \n", "") + ris(2, "Two.").removesuffix("ER  - \n\n")
    records, skipped = read(cut, "a.ris")
    assert [(record.place, record.text) for record in records] == [(":1", "One."), (":5", "Two.")]
    assert skipped == []


def test_a_ris_record_without_an_abstract_is_named(read):
    records, skipped = read("TY  - BOOK\nTI  - Book\nER  - \n" + ris(2, "Two."), "a.ris")
    assert [record.place for record in records] == [":4"]
    assert skipped == [Skipped(":1", "it has no abstract")]


def test_bom_and_windows_line_ends_are_read_in_both_formats(read):
    for content, name in [(FULL_RIS, "a.ris"), (FULL_MEDLINE, "a.nbib")]:
        assert read(b"\xef\xbb\xbf" + content.replace("\n", "\r\n").encode(), name) == read(content, name)


@pytest.mark.parametrize(("make", "name"), [(ris, "a.ris"), (medline, "a.nbib")])
def test_a_bad_byte_and_a_nul_cost_only_their_records(read, make, name):
    content = make(1, "One.") + make(2, "caf\N{BULLET}") + make(3, "N\0L") + make(4, "Four.")
    records, skipped = read(content.encode().replace("\N{BULLET}".encode(), b"\xe9"), name)
    assert [record.title.rstrip(".") for record in records] == ["Title 1", "Title 4"]
    assert [one.reason for one in skipped] == [
        "byte 0xe9 in its text is not of the file's encoding (--encoding)",
        "its text holds a NUL: this is no text",
    ]


@pytest.mark.parametrize(("make", "name"), [(ris, "a.ris"), (medline, "a.nbib")])
def test_right_to_left_text_and_emoji_stay_as_they_are(read, make, name):
    text = "תקציר בעברית, ملخص بالعربية 🧬👩‍🔬."
    assert [record.text for record in read(make(1, text), name)[0]] == [text]


@pytest.mark.parametrize(("make", "name"), [(ris, "a.ris"), (medline, "a.nbib")])
def test_overlong_records_are_named_and_the_rest_is_in(read, make, name):
    content = make(1, "word " * 2_000_000) + make(2, "a line of the abstract\n" * 750_000) + make(3, "Three.")
    records, skipped = read(content, name)
    assert [record.text for record in records] == ["Three."]
    assert [one.reason for one in skipped] == [
        "its abstract has 9,999,999 characters (at most 100,000)",
        TOO_LONG,
    ]


def test_two_records_with_one_key_are_both_in(read):
    records, _ = read(medline(1, "One.") + medline(1, "Two."), "a.nbib")
    assert [(record.place, record.text) for record in records] == [("#1", "One."), ("#1", "Two.")]


def test_a_separator_in_the_text_makes_no_tag(read):
    records, _ = read(ris(1, "a\x1eAU  - Nobody"), "a.ris")
    assert [(record.text, record.authors) for record in records] == [("a AU - Nobody", ())]


def test_a_medline_record_has_all_its_fields(read):
    assert read(FULL_MEDLINE, "export") == (
        [
            Record(
                text="BACKGROUND: Water is wet. METHODS: We looked. p < 0.05.",
                place="#123",
                title="A title that runs over two lines.",
                authors=("Éva A Müller", "J Doe", "The Water Group"),
                year=1999,
                venue="Journal of water",
                url="https://doi.org/10.1000/abc.2",
                keys=("doi:10.1000/abc.2", "pmid:123"),
                keywords=("wetness", "Humans", "Water/analysis"),
            )
        ],
        [],
    )


def test_a_medline_record_without_full_names_has_the_short_ones(read):
    records, _ = read("PMID- 5\nTI  - T.\nAU  - Doe J\nTA  - J Water\nAB  - Text.\n", "a.nbib")
    assert [(record.authors, record.venue) for record in records] == [(("Doe J",), "J Water")]


def test_a_medline_record_without_a_pmid_is_not_mixed_with_the_one_before(read):
    content = "PMID- 1\nTI  - No abstract.\n\nTI  - Whose?\nAB  - Nobody's.\n\n" + medline(2, "Two.")
    records, skipped = read(content, "a.nbib")
    assert [(record.place, record.text) for record in records] == [("#2", "Two.")]
    assert skipped == [Skipped("#1", "it has no abstract"), Skipped(":4", "it does not begin with its PMID")]


def test_a_tag_can_be_chosen_for_a_field(read):
    records, _ = read("TY  - JOUR\nTI  - T\nN1  - The abstract.\nAB  - Not it.\nER  - \n", "a.ris", "text=N1")
    assert [record.text for record in records] == ["The abstract."]


@pytest.mark.parametrize("name", ["a.ris", "a.nbib"])
def test_a_file_without_a_record_is_refused(read, name):
    with pytest.raises(InputError, match="no line begins with"):
        read("Hello,\nthis is a letter.\n", name)
