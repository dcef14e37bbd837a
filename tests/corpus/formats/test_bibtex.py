"""BibTeX as people and programs write it, with all that they get wrong."""

from __future__ import annotations

import pytest

from rag.corpus.formats.pieces import TOO_LONG
from rag.corpus.record import Record, Skipped
from rag.errors import InputError

FULL = r"""% Exported on a Monday
@string{tg = "Transactions on " # "Graphs"}
@comment{jabref-meta: databaseType:bibtex;}
@preamble{"\newcommand{\x}{y}"}
@InProceedings{erdos:1960,
  Author = {Erd{\H o}s, P{\'a}l and {World Health Organization} and Knuth, Donald E. and G{\"o}del, Kurt and others},
  TITLE = {On the {BERT}
     of <i>graphs</i>},
  abstract = "We show that 95\% of 5% of $x^2$ is {\"o} \'{e}. Cost \$5 \& p &lt; 1.",
  booktitle = tg # { 12},
  year = 1960,
  doi = {10.1000/abc\_def},
  url = {\url{https://example.org/x\_y}},
  keywords = {graphs; {BERT}},
  eprint = {2401.00001},
  archivePrefix = {arXiv},
}
"""


def entry(key: str, abstract: str) -> str:
    return f"@article{{{key}, title = {{Title of {key}}}, abstract = {{{abstract}}}}}\n"


def test_an_entry_has_all_its_fields(read):
    assert read(FULL, "a.bib") == (
        [
            Record(
                text="We show that 95% of 5% of $x^2$ is ö é. Cost $5 & p < 1.",
                place="#erdos:1960",
                title="On the BERT of graphs",
                authors=("Pál Erdős", "World Health Organization", "Donald E. Knuth", "Kurt Gödel"),
                year=1960,
                venue="Transactions on Graphs 12",
                url="https://example.org/x_y",
                keys=("doi:10.1000/abc_def", "arxiv:2401.00001"),
                keywords=("graphs", "BERT"),
            )
        ],
        [],
    )


def test_biblatex_fields_and_an_entry_in_parentheses_are_read(read):
    content = (
        '@online(doe, title = "T", abstract = {A.}, journaltitle = "J", date = {2020-05}, eprint = 77, '
        "eprinttype = {PubMed})\n"
    )
    records, _ = read(content, "a.bib")
    assert records == [
        Record(
            "A.", "#doe", title="T", year=2020, venue="J", url="https://pubmed.ncbi.nlm.nih.gov/77", keys=("pmid:77",)
        )
    ]


def test_an_eprint_of_another_archive_is_not_taken_for_arxivs(read):
    content = "@misc{a, title={T}, abstract={A.}, eprint={2401.00001}, eprinttype={hal}}\n"
    assert [record.keys for record in read(content, "a.bib")[0]] == [()]


def test_an_organization_with_an_and_in_its_name_is_one_author(read):
    content = "@misc{a, abstract={A.}, author={{Barnes and Noble} and Doe, Jane}}\n"
    assert [record.authors for record in read(content, "a.bib")[0]] == [("Barnes and Noble", "Jane Doe")]


def test_an_entry_without_an_abstract_is_named(read):
    assert read("@book{b, title={T}}\n" + entry("a", "A."), "a.bib")[1] == [Skipped("#b", "it has no abstract")]


def test_a_broken_entry_is_named_and_the_rest_is_in(read):
    content = (
        "@article{open, title={Open, abstract={A.},\n year=2}\n" + entry("one", "One.")
        + "@article{comma, title={T}\n abstract={A.}}\n" + entry("two", "Two.")
        + "@article{equals, title {T}, abstract={A.}}\n" + entry("three", "Three.")
        + '@article{quote, title="T, abstract="A."}\n' + entry("four", "Four.")
        + "@article{end, title={T"
    )  # fmt: skip
    records, skipped = read(content, "a.bib")
    assert [record.place for record in records] == ["#one", "#two", "#three", "#four"]
    unclosed = "not BibTeX: a brace or a quote in it is not closed"
    assert skipped == [
        Skipped("#open", unclosed),
        Skipped("#comma", "not BibTeX: a comma is missing behind its title"),
        Skipped("#equals", "not BibTeX: a field in it has no '='"),
        Skipped("#quote", unclosed),
        Skipped("#end", unclosed),
    ]


def test_entries_with_one_key_are_all_in_wherever_they_stand(read):
    records, _ = read(entry("a", "One.") + entry("a", "Two.").strip() + " " + entry("a", "Three."), "a.bib")
    assert [(record.place, record.text) for record in records] == [("#a", "One."), ("#a", "Two."), ("#a", "Three.")]


def test_the_first_of_two_fields_of_one_name_counts(read):
    records, skipped = read("@article{a, abstract={One.}, Abstract={Two.}, abstract={Three.}}\n", "a.bib")
    assert [record.text for record in records] == ["One."]
    assert skipped == []


def test_an_entry_that_is_commented_out_is_no_record(read):
    records, skipped = read("% @article{no, abstract={No.}}\n" + entry("a", "A."), "a.bib")
    assert [record.place for record in records] == ["#a"]
    assert skipped == []


def test_an_at_sign_in_a_value_begins_no_entry(read):
    text = "Write to a@b.org, or use @decorator (often)."
    assert [record.text for record in read(entry("a", text), "a.bib")[0]] == [text]


def test_bom_and_windows_line_ends_are_read(read):
    assert read(b"\xef\xbb\xbf" + FULL.replace("\n", "\r\n").encode(), "a.bib") == read(FULL, "a.bib")


def test_right_to_left_text_and_emoji_stay_as_they_are(read):
    text = "תקציר בעברית, ملخص بالعربية 🧬👩‍🔬."
    assert [record.text for record in read(entry("a", text), "a.bib")[0]] == [text]


def test_a_bad_byte_and_a_nul_cost_only_their_entries(read):
    content = (entry("a", "One.") + entry("b", "caf?") + entry("c", "N\0L") + entry("d", "Two.")).encode()
    records, skipped = read(content.replace(b"caf?", b"caf\xe9"), "a.bib")
    assert [record.place for record in records] == ["#a", "#d"]
    assert skipped == [
        Skipped("#b", "byte 0xe9 in its text is not of the file's encoding (--encoding)"),
        Skipped("#c", "its text holds a NUL: this is no text"),
    ]


def test_overlong_entries_are_named_and_the_rest_is_in(read):
    content = entry("a", "word " * 2_000_000) + entry("b", "word " * 3_300_000) + entry("c", "{" * 9_000_000)
    records, skipped = read(content + entry("d", "Four."), "a.bib")
    assert [record.place for record in records] == ["#d"]
    assert skipped == [
        Skipped("#a", "its abstract has 9,999,999 characters (at most 100,000)"),
        Skipped(":2", TOO_LONG),
        Skipped(":3", "it has too many braces, quotes, commas or '=' for an entry"),
    ]


def test_strings_that_name_each_other_do_not_explode(read):
    bomb = '@string{a0 = "' + "x" * 100 + '"}\n'
    bomb += "".join(f"@string{{a{n} = {' # '.join([f'a{n - 1}'] * 99)}}}\n" for n in range(1, 4))
    records, skipped = read(bomb + entry("a", "A."), "a.bib")
    assert [record.place for record in records] == ["#a"]
    assert Skipped(":3", "not BibTeX: its value has more than 10,000 characters") in skipped


def test_a_field_can_be_chosen(read):
    records, _ = read("@misc{a, Note = {The {abstract}.}, abstract={No.}}\n", "a.bib", "text=note")
    assert [record.text for record in records] == ["The abstract."]


def test_a_file_without_an_entry_is_refused(read):
    with pytest.raises(InputError, match="no BibTeX entry is in it"):
        read("Nothing here.\n", "a.bib")
