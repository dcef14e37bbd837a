"""Tables with a header: CSV and TSV as sources and spreadsheets export them, and rows that are broken."""

from __future__ import annotations

import pytest

from rag.corpus.record import Record, Skipped
from rag.errors import InputError

HEADER = "title,abstract,year\n"
NO_ABSTRACT = "it has no abstract"


def test_scopus(read):
    content = (
        '"Authors","Author full names","Title","Year","Source title","DOI","Link","Abstract","Author Keywords","EID"\n'
        '"Smith J.; Doe A.","Smith, Jane (57190000000); Doe, Anna (57200000000)","Soil and Sand","2020","Geoderma",'
        '"10.1016/j.geoderma.2020.1","https://www.scopus.com/inward/record.uri?eid=2-s2.0-1",'
        '"Soil, and ""sand"", drift.","soil; sand","2-s2.0-1"\n'
        '"Roe R.","Roe, Rae (5)","Empty","2021","J","","","[No abstract available]","",""\n'
    )
    records, skipped = read("\ufeff" + content.replace("\n", "\r\n"), "scopus.csv")
    assert records == [
        Record(
            text='Soil, and "sand", drift.',
            place=":2",
            title="Soil and Sand",
            authors=("Jane Smith", "Anna Doe"),
            year=2020,
            venue="Geoderma",
            url="https://www.scopus.com/inward/record.uri?eid=2-s2.0-1",
            keys=("doi:10.1016/j.geoderma.2020.1", "2-s2.0-1"),
            keywords=("soil", "sand"),
        )
    ]
    assert skipped == [Skipped(":3", NO_ABSTRACT)]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_web_of_science(read, encoding):
    content = (
        "PT\tAU\tAF\tTI\tSO\tDE\tAB\tPY\tDI\tPM\tUT\r\n"
        'J\tSmith, J; Doe, A\tSmith, Jane; Doe, Anna\tOn "soil" and sand\tGEODERMA\tsoil; sand\tSoil\'s “drift”.\t2020'
        "\t10.1016/J.1\t31452104\tWOS:000500000000001\t\r\n"
    )
    records, skipped = read(content.encode(encoding), "savedrecs.tsv")
    assert records == [
        Record(
            text="Soil's “drift”.",
            place=":2",
            title='On "soil" and sand',
            authors=("Jane Smith", "Anna Doe"),
            year=2020,
            venue="GEODERMA",
            url="https://doi.org/10.1016/j.1",
            keys=("doi:10.1016/j.1", "pmid:31452104", "WOS:000500000000001"),
            keywords=("soil", "sand"),
        )
    ]
    assert skipped == []


def test_zotero(read):
    content = (
        '"Key","Item Type","Publication Year","Author","Title","Publication Title","DOI","Url","Abstract Note",'
        '"Date","Manual Tags"\n'
        '"AB12CD","journalArticle","2019","Müller, Karl; Smith, J.","Two\nlines","Nature","10.1038/x",'
        '"https://nature.com/x","First line.\n\nSecond line.","2019-05","red; blue"\n'
        '"EF","note","","","","","","","Other.","",""\n'
    )
    records, skipped = read(content, "zotero.csv")
    assert records[0] == Record(
        text="First line. Second line.",
        place=":2",
        title="Two lines",
        authors=("Karl Müller", "J. Smith"),
        year=2019,
        venue="Nature",
        url="https://nature.com/x",
        keys=("doi:10.1038/x", "AB12CD"),
        keywords=("red", "blue"),
    )
    assert (records[1].place, records[1].text) == (":6", "Other.")
    assert skipped == []


def test_a_table_without_abstracts_names_its_columns(read):
    content = "PMID,Title,Authors,Citation,Journal/Book,DOI\n1,Ice,Doe A.,Nature. 2020,Nature,10.1/x\n"
    with pytest.raises(InputError) as caught:
        read(content, "pubmed.csv")
    assert str(caught.value) == (
        "no column holds the abstract; its columns are PMID, Title, Authors, Citation, Journal/Book, DOI "
        "(--field text=COLUMN)"
    )


def test_a_table_without_a_header_is_told_by_its_first_row(read):
    with pytest.raises(InputError, match=r"its columns are Ice, Ice melts\., 2020 \(--field"):
        read("Ice,Ice melts.,2020\nSand,Sand drifts.,2021\n", "a.csv")


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_the_delimiter_is_told_from_the_header(read, delimiter):
    content = f'title{delimiter}abstract\n"a, b; c"{delimiter}"x; y, z"\n'
    records, _ = read(content, "a.csv")
    assert [(one.title, one.text) for one in records] == [("a, b; c", "x; y, z")]


def test_the_abstract_may_be_named_by_the_user(read):
    records, _ = read("Name,Body,Abstract\nIce,One.,Not this.\n", "a.csv", "text=body")
    assert [(one.title, one.text) for one in records] == [("Ice", "One.")]


def test_markup_accents_and_other_scripts(read):
    content = (
        'title,abstract,authors\n<i>Big</i> R&amp;D,CO<sub>2</sub> &lt; 5.,"G{\\"o}del, K.; B\\\'ezier, P."\n'
        "כותרת,תקציר קצר 🧪.,\n"
    ).replace('{\\"o}', '{\\""o}')
    first, second = read(content, "a.csv")[0]
    assert (first.title, first.text, first.authors) == ("Big R&D", "CO₂ < 5.", ("K. Gödel", "P. Bézier"))
    assert (second.title, second.text) == ("כותרת", "תקציר קצר 🧪.")


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        ("T,A text.,2020,more\n", "has 4 columns, the header has 3"),
        ("T\n", NO_ABSTRACT),
        ("T,,2020\n", NO_ABSTRACT),
        ('T,"the "best" one",2020\n', "not CSV: ',' expected after '\"'"),
        ('T,"never closed,2020\n', "not CSV: unexpected end of data"),
        ("T,a\0b,2020\n", "its text holds a NUL: this is no text"),
        ("T," + "x" * 10_000_000 + ",2020\n", "its abstract has 10,000,000 characters (at most 100,000)"),
        ("T," + "x" * 16_000_000 + ",2020\n", "it is too long for a record (at most 16,000,000 characters)"),
        ('T,"' + '""' * 5_000_000 + "\n", "not CSV: unexpected end of data"),
    ],
    ids=range(9),
)
def test_a_broken_row_is_named_and_the_rest_is_in(read, broken, reason):
    records, skipped = read(f"{HEADER}Ice,Ice melts.,2020\n{broken}\nSand,Sand drifts.,2021\n", "a.csv")
    assert [one.title for one in records] == ["Ice", "Sand"]
    assert skipped == [Skipped(":3", reason)]


def test_a_short_row_with_an_abstract_is_in_and_rows_of_nothing_are_none(read):
    records, skipped = read(f"{HEADER}Ice,Ice melts.\n,,\n \nSand,Sand drifts.,2021,,\n", "a.csv")
    assert [(one.place, one.title, one.year) for one in records] == [(":2", "Ice", None), (":5", "Sand", 2021)]
    assert skipped == []


def test_the_lines_of_a_broken_row_are_no_rows_of_their_own(read):
    content = f'{HEADER}T,"the "best" one\nin mice, we show\nit",2020\nSand,Sand drifts.,2021\nIce,Ice melts.\n'
    records, skipped = read(content, "a.csv")
    assert [one.title for one in records] == ["Sand", "Ice"]
    assert [one.place for one in skipped] == [":2", ":3", ":4"]


def test_a_quote_that_is_never_closed_takes_no_more_than_its_row(read):
    rows = "".join(f"Sand,Sand drifts {number}.,2021\n" for number in range(12_000))
    records, skipped = read(f'{HEADER}"Ice,Ice melts.,2020\n{rows}', "a.csv")
    assert len(records) == 12_000
    assert skipped == [Skipped(":2", "a quote in it is never closed")]


def test_a_file_of_quotes_that_open_at_every_line_breaks_off_in_time(read):
    records, skipped = read(HEADER + 'a","b\n' * 100_000, "a.csv")
    assert records == []
    assert 100 < len(skipped) < 1_000
    assert [one.breaks_off for one in skipped[-2:]] == [False, True]


def test_quotes_in_a_table_with_tabs_need_not_be_escaped(read):
    content = 'title\tabstract\n"Smart" soil\tIt "learns".\n"Open\tNever closed.\n"Tab\tin it"\tQuoted.\n'
    records, skipped = read(content, "a.tsv")
    assert [(one.title, one.text) for one in records] == [
        ('"Smart" soil', 'It "learns".'),
        ('"Open', "Never closed."),
        ("Tab in it", "Quoted."),
    ]
    assert skipped == []


def test_a_bad_byte_costs_its_row_alone(read):
    content = b"title,abstract\nIce,na\xefve\nSand,Sand drifts.\n"
    records, skipped = read(content, "a.csv")
    assert [one.title for one in records] == ["Sand"]
    assert skipped == [Skipped(":2", "byte 0xef in its text is not of the file's encoding (--encoding)")]


def test_of_two_columns_of_one_name_the_first_that_says_something_counts(read):
    records, _ = read("id,abstract,Abstract\n1,One.,Two.\n1,,Two.\n", "a.csv")
    assert [(one.text, one.keys) for one in records] == [("One.", ("1",)), ("Two.", ("1",))]
