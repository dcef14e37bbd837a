"""Markdown: front matter, headings with their sections, and bare paragraphs."""

from __future__ import annotations

import pytest

from rag.corpus.record import Record, Skipped

NO_ABSTRACT = "it has no abstract"


def test_front_matter_has_the_fields_of_the_one_record(read):
    content = """---
title: "Ice & Snow"
authors: [Ada Lovelace, Alan Turing]
date: 2021-03-04
venue: ICE 2021
doi: 10.1000/10.10
arxiv: 2101.00010
keywords:
  - ice
  - snow
url: ~
---

# Ice & Snow

## Abstract

Ice melts in
the *spring*.

## Methods

We watched it.

## Notes

Not the abstract.

## Impressions

Not the abstract either.
"""
    records, skipped = read("\ufeff" + content.replace("\n", "\r\n"), "ice.md")
    assert records == [
        Record(
            text="Ice melts in the *spring*. METHODS: We watched it.",
            place="#1",
            title="Ice & Snow",
            authors=("Ada Lovelace", "Alan Turing"),
            year=2021,
            venue="ICE 2021",
            url="https://doi.org/10.1000/10.10",
            keys=("doi:10.1000/10.10", "arxiv:2101.00010"),
            keywords=("ice", "snow"),
        )
    ]
    assert skipped == []


def test_an_abstract_in_front_matter_is_the_text(read):
    records, _ = read(
        "---\ntitle: T\nabstract: >\n  One\n  two.\n---\n# Notes\n\nNot this.\n\n# More\n\nNor this.\n", "a.md"
    )
    assert records == [Record(text="One two.", place="#1", title="T")]


def test_front_matter_above_a_list_of_abstracts_is_its_heading(read):
    records, _ = read("---\ntitle: Our papers\nlayout: page\n---\n\n## A\n\nText a.\n\n## B\n\nText b.\n", "a.md")
    assert [(one.heading, one.title, one.text) for one in records] == [
        ("Our papers", "A", "Text a."),
        ("Our papers", "B", "Text b."),
    ]


@pytest.mark.parametrize(
    ("front", "reason"),
    [
        ("title: [", "its front matter is not YAML: expected the node content, but found '<stream end>' at line 3"),
        ("a: &a [x]\nb: [*a, *a]", "its front matter is not YAML: an alias is in it at line 3"),
        ("a: " + "[" * 5000, "its front matter is not YAML"),
    ],
    ids=["broken", "aliases", "nested"],
)
def test_front_matter_that_cannot_be_read_is_named(read, front, reason):
    assert read(f"---\n{front}\n---\nText.\n", "a.md") == ([], [Skipped("#1", reason, breaks_off=True)])


def test_lines_between_rules_are_no_front_matter(read):
    records, _ = read("---\n\nA first\nabstract.\n\n***\n\nA second.\n", "a.md")
    assert [one.text for one in records] == ["A first abstract.", "A second."]


def test_each_heading_with_text_begins_a_record(read):
    content = """# Proceedings

## [Sparse *attention*](https://example.org/sparse)

**Authors:** Ada Lovelace, Alan Turing
*Year*: 2024
- Venue: ICLR
DOI: [10.1234/AB](https://doi.org/10.1234/AB)
arXiv: 2401.00001
Keywords: attention; sparsity

**Abstract**

Attention is $O(n^2)$.
It need not be &amp; H<sub>2</sub>O.

Second paragraph.

### 1. Background

It was slow.

### Results:

It is fast.

### References

1. Nobody.

Dense attention
---------------

URL: <https://example.org/dense>

Abstract: Attention stays dense: always.
"""
    records, skipped = read(content, "list.md")
    assert records == [
        Record(
            text="Attention is $O(n^2)$. It need not be & H₂O. Second paragraph. "
            "BACKGROUND: It was slow. RESULTS: It is fast.",
            place="#1",
            heading="Proceedings",
            title="Sparse *attention*",
            authors=("Ada Lovelace", "Alan Turing"),
            year=2024,
            venue="ICLR",
            url="https://example.org/sparse",
            keys=("doi:10.1234/ab", "arxiv:2401.00001"),
            keywords=("attention", "sparsity"),
        ),
        Record(
            text="Attention stays dense: always.",
            place="#2",
            heading="Proceedings",
            title="Dense attention",
            url="https://example.org/dense",
        ),
    ]
    assert skipped == []


def test_headings_of_groups_are_no_records_and_those_without_text_are_named(read):
    content = "# All\n\n## Talks\n\n### A\n\nText a.\n\n### B\n\n### C\n\nText c.\n\n## Posters\n\n### D\n\nText d.\n"
    records, skipped = read(content, "a.md")
    assert [(one.place, one.title) for one in records] == [("#1", "A"), ("#3", "C"), ("#4", "D")]
    assert {one.heading for one in records} == {"All"}
    assert skipped == [Skipped("#2", NO_ABSTRACT)]


def test_one_paper_with_sections(read):
    content = "A Paper\n=======\n\n## Authors\n\nAda L, Alan T\n\n## Keywords\n\nx, y\n\n## Summary\n\nShort.\n"
    records, _ = read(content, "a.md")
    assert records == [
        Record(text="Short.", place="#1", title="A Paper", authors=("Ada L", "Alan T"), keywords=("x", "y"))
    ]


def test_a_hash_in_fenced_code_is_no_heading(read):
    records, _ = read(
        "# A\n\nRun:\n\n```sh\n# not a heading\n\nls\n```\n\n~~~\n# nor this\n~~~~\n\n# B #\n\nText.\n", "a.md"
    )
    assert [one.title for one in records] == ["A", "B"]
    assert records[0].text == "Run: ```sh # not a heading ls ``` ~~~ # nor this ~~~~"


def test_a_file_without_headings_has_a_record_a_paragraph(read):
    records, _ = read("Weekly abstracts\n\nOne is\nlong.\n\n#hashtag is two.\n", "a.md")
    assert records == [
        Record(text="One is long.", place="#1", heading="Weekly abstracts"),
        Record(text="#hashtag is two.", place="#2", heading="Weekly abstracts"),
    ]


def test_text_above_the_first_heading_is_a_heading_or_is_named(read):
    records, skipped = read("Weekly\n\n# A\n\nText.\n", "a.md")
    assert ([(one.place, one.heading) for one in records], skipped) == ([("#1", "Weekly")], [])
    records, skipped = read("This is\nan introduction.\n\n# A\n\nText.\n", "a.md")
    assert [(one.place, one.heading) for one in records] == [("#2", "")]
    assert skipped == [Skipped("#1", "it stands above the first heading")]


def test_other_scripts_and_titles_of_one_name(read):
    records, _ = read("# עברית\n\nתקציר קצר 🧪.\n\n# A\n\nOne.\n\n# A\n\nTwo.\n", "a.md")
    assert [(one.title, one.text) for one in records] == [("עברית", "תקציר קצר 🧪."), ("A", "One."), ("A", "Two.")]


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (b"na\xefve", "byte 0xef in its text is not of the file's encoding (--encoding)"),
        (b"a\0b", "its text holds a NUL: this is no text"),
        (b"x" * 10_000_000, "its abstract has 10,000,000 characters (at most 100,000)"),
        (b"x" * 17_000_000, "it is too long for a record (at most 16,000,000 characters)"),
        (b"a line\n\n" * 300_000, "it is too long for a record (at most 16,000,000 characters)"),
        (b"#" * 1_000_000 + b"\n" + b"*" * 1_000_000, "its abstract has 1,000,000 characters (at most 100,000)"),
    ],
    ids=range(6),
)
def test_a_broken_record_is_named_and_the_rest_is_in(read, broken, reason):
    records, skipped = read(b"# A\n\nOne.\n\n# X\n\n" + broken + b"\n\n# B\n\nTwo.\n", "a.md")
    assert [(one.place, one.title) for one in records] == [("#1", "A"), ("#3", "B")]
    assert skipped == [Skipped("#2", reason)]


def test_a_field_may_be_named_by_the_user(read):
    records, _ = read("# A\n\nTeaser: Not\nGist: One.\n", "a.md", "text=gist", "venue=teaser")
    assert records == [Record(text="One.", place="#1", title="A", venue="Not")]


def test_paragraphs_are_read_on_long_before_the_file_ends(read):
    records, skipped = read("".join(f"Abstract number {number} is\nshort.\n\n" for number in range(30_000)), "a.md")
    assert len(records) == 30_000
    assert (records[-1].place, records[-1].text) == ("#30000", "Abstract number 29999 is short.")
    assert skipped == []
