"""PubMed's XML and arXiv's Atom feeds, whole and broken."""

from __future__ import annotations

import pytest

from rag.corpus.formats.pieces import TOO_LONG
from rag.corpus.record import Record, Skipped
from rag.errors import InputError

FULL_PUBMED = """<?xml version="1.0" ?>
<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle//EN" "https://dtd.nlm.nih.gov/pubmed.dtd">
<PubmedArticleSet>
<PubmedArticle><MedlineCitation Status="MEDLINE"><PMID Version="1">123</PMID><Article>
<Journal><JournalIssue><PubDate><MedlineDate>1998 Dec-1999 Jan</MedlineDate></PubDate></JournalIssue>
<Title>Journal of water &amp; ice</Title></Journal>
<ArticleTitle>[On the <i>wetness</i>
 of water [H<sub>2</sub>O].]</ArticleTitle>
<ELocationID EIdType="doi">10.1000/other</ELocationID>
<Abstract><AbstractText Label="BACKGROUND" NlmCategory="BACKGROUND">Water is <b>wet</b>.</AbstractText>
<AbstractText Label="RESULTS">It has 10<sup>-3</sup> mol &lt;i&gt;in vivo&lt;/i&gt;, &#955; &eacute;.</AbstractText>
<AbstractText>No label.</AbstractText><CopyrightInformation>Not this.</CopyrightInformation></Abstract>
<AuthorList><Author><LastName>Müller</LastName><ForeName>Éva A</ForeName><Initials>EA</Initials></Author>
<Author><LastName>Doe</LastName><Initials>J</Initials><Suffix>Jr</Suffix></Author>
<Author><CollectiveName>The Water Group</CollectiveName></Author></AuthorList></Article>
<CommentsCorrectionsList><CommentsCorrections><PMID>999</PMID></CommentsCorrections></CommentsCorrectionsList>
<OtherAbstract><AbstractText>Autre.</AbstractText></OtherAbstract>
<KeywordList><Keyword MajorTopicYN="Y">wetness</Keyword><Keyword>ice</Keyword></KeywordList></MedlineCitation>
<PubmedData><ArticleIdList><ArticleId IdType="pubmed">123</ArticleId><ArticleId IdType="doi">10.1000/abc</ArticleId>
</ArticleIdList><ReferenceList><Reference><ArticleIdList><ArticleId IdType="doi">10.9999/no</ArticleId></ArticleIdList>
</Reference></ReferenceList></PubmedData></PubmedArticle>
<DeleteCitation><PMID Version="1">7</PMID></DeleteCitation>
</PubmedArticleSet>
"""

FULL_ATOM = """<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xmlns:arxiv="http://arxiv.org/schemas/atom">
  <id>http://arxiv.org/api/x</id><title>arXiv Query</title>
  <entry>
    <id>http://arxiv.org/abs/2401.00001v1</id>
    <updated>2024-02-01T00:00:00Z</updated><published>2023-12-30T18:00:00Z</published>
    <title>On Erd\\H{o}s graphs
  in two lines</title>
    <summary>  We bound $x^2 &lt; 3$ for
G\\"odel graphs.
</summary>
    <author><name>Paul Erd\\H{o}s</name><arxiv:affiliation>Nowhere</arxiv:affiliation></author>
    <author><name>Ada Lovelace</name></author>
    <arxiv:doi>10.1000/graph</arxiv:doi><arxiv:journal_ref>J. Graphs 1 (2024)</arxiv:journal_ref>
    <link href="https://arxiv.org/abs/2401.00001v1" rel="alternate" type="text/html"/>
    <link title="pdf" href="https://arxiv.org/pdf/2401.00001v1" rel="related"/>
    <arxiv:primary_category term="math.CO"/><category term="math.CO"/><category term="cs.DM"/>
  </entry>
</feed>
"""

BOOK = """<PubmedArticleSet><PubmedBookArticle><BookDocument><PMID>31</PMID>
<ArticleIdList><ArticleId IdType="doi">10.1000/book</ArticleId></ArticleIdList>
<Book><BookTitle>StatPearls</BookTitle><PubDate><Year>2021</Year></PubDate></Book><ArticleTitle>Ice</ArticleTitle>
<AuthorList><Author><LastName>Doe</LastName><ForeName>J</ForeName></Author></AuthorList>
<Abstract><AbstractText>Ice is cold.</AbstractText></Abstract></BookDocument></PubmedBookArticle></PubmedArticleSet>"""


def article(pmid: int, abstract: str) -> str:
    return (
        f"<PubmedArticle><MedlineCitation><PMID>{pmid}</PMID><Article><ArticleTitle>T.</ArticleTitle>"
        f"<Abstract><AbstractText>{abstract}</AbstractText></Abstract></Article></MedlineCitation></PubmedArticle>\n"
    )


def articles(*of: str) -> str:
    return "<PubmedArticleSet>\n" + "".join(of) + "</PubmedArticleSet>\n"


def test_a_pubmed_article_has_all_its_fields(read):
    assert read(FULL_PUBMED, "pubmed.xml") == (
        [
            Record(
                text="BACKGROUND: Water is wet. RESULTS: It has 10⁻³ mol in vivo, λ é. No label.",
                place="#123",
                title="On the wetness of water [H₂O].",
                authors=("Éva A Müller", "J Doe Jr", "The Water Group"),
                year=1998,
                venue="Journal of water & ice",
                url="https://doi.org/10.1000/abc",
                keys=("doi:10.1000/abc", "pmid:123"),
                keywords=("wetness", "ice"),
            )
        ],
        [],
    )


def test_a_chapter_of_a_book_has_the_book_as_its_venue(read):
    assert read(BOOK, "books.xml")[0] == [
        Record(
            text="Ice is cold.",
            place="#31",
            title="Ice",
            authors=("J Doe",),
            year=2021,
            venue="StatPearls",
            url="https://doi.org/10.1000/book",
            keys=("doi:10.1000/book", "pmid:31"),
        )
    ]


def test_an_entry_of_arxivs_feed_has_all_its_fields(read):
    assert read(FULL_ATOM, "query") == (
        [
            Record(
                text="We bound $x^2 < 3$ for Gödel graphs.",
                place="#2401.00001v1",
                title="On Erdős graphs in two lines",
                authors=("Paul Erdős", "Ada Lovelace"),
                year=2023,
                venue="J. Graphs 1 (2024)",
                url="https://arxiv.org/abs/2401.00001v1",
                keys=("doi:10.1000/graph", "arxiv:2401.00001"),
                keywords=("math.CO", "cs.DM"),
            )
        ],
        [],
    )


def test_prefixed_names_are_known_without_their_prefix(read):
    prefixed = (
        '<a:feed xmlns:a="http://www.w3.org/2005/Atom"><a:entry><a:id>http://arxiv.org/abs/cs/0309040</a:id>'
        "<a:summary type='xhtml'><div><p>One.</p><p>Two.</p></div></a:summary></a:entry></a:feed>"
    )
    records, skipped = read(prefixed, "a.atom")
    assert [(record.place, record.text) for record in records] == [("#cs/0309040", "One. Two.")]
    assert skipped == []


def test_arxivs_report_of_an_error_is_no_abstract(read):
    feed = (
        "<feed><entry><id>http://arxiv.org/api/errors#bad_id</id><title>Error</title>"
        "<summary>incorrect id format</summary></entry></feed>"
    )
    assert read(feed, "a.xml") == (
        [],
        [Skipped("#http://arxiv.org/api/errors#bad_id", "arXiv's report of an error: incorrect id format")],
    )


def test_an_entity_bomb_is_not_expanded_and_the_rest_is_in(read):
    defined = "".join(f'<!ENTITY lol{n} "{f"&lol{n - 1};" * 10}">' for n in range(1, 10))
    head = f'<?xml version="1.0"?>\n<!DOCTYPE PubmedArticleSet [<!ENTITY lol0 "lol">{defined}]>\n'
    label = article(4, "Text.").replace("<AbstractText>", '<AbstractText Label="&lol9;">')
    records, skipped = read(
        head + articles(article(1, "One &amp; &#x1F9EC;."), article(2, "a &lol9; b"), article(3, "Three."), label),
        "a.xml",
    )
    assert [(record.place, record.text) for record in records] == [("#1", "One & 🧬."), ("#3", "Three.")]
    reason = "it uses the entity &lol9;, and those that a file defines are not expanded"
    assert skipped == [Skipped("#2", reason), Skipped("#4", reason)]


def test_a_file_that_is_cut_off_gives_its_whole_records(read):
    content = articles(article(1, "One."), article(2, "Two has an end. And more.")).split(" And more")[0]
    records, skipped = read(content, "a.xml")
    assert [record.place for record in records] == ["#1"]
    assert skipped == [Skipped(":3", "the XML breaks off: <PubmedArticle> is not closed", breaks_off=True)]


def test_a_file_that_is_cut_off_between_records_says_so(read):
    records, skipped = read(articles(article(1, "One.")).removesuffix("</PubmedArticleSet>\n"), "a.xml")
    assert [record.place for record in records] == ["#1"]
    assert skipped == [Skipped(":3", "the XML breaks off: its root element is not closed", breaks_off=True)]


def test_a_broken_record_is_named_and_the_rest_is_in(read):
    content = articles(
        article(1, "<b>one</i>"), article(2, "Two."), article(3, "p < 5"), article(4, "R & D"),
        article(5, "Five").removesuffix("</PubmedArticle>\n"), article(6, "N\0L"), article(7, "<b>" * 3000),
        article(8, "Eight."),
    )  # fmt: skip
    records, skipped = read(content, "a.xml")
    assert [record.place for record in records] == ["#2", "#8"]
    assert [one.place for one in skipped] == ["#1", "#3", "#4", "#5", "#6", "#7"]
    assert skipped[0].reason == "not XML: Opening and ending tag mismatch: b and i (line 2)"
    assert skipped[3].reason == "not XML: <PubmedArticle> is not closed"
    assert not any(one.breaks_off for one in skipped)


def test_comments_and_character_data_hide_what_looks_like_records(read):
    content = articles(f"<!-- {article(1, 'No.')} -->", article(2, "<![CDATA[a </PubmedArticle> b]]><!-- c -->."))
    records, skipped = read(content, "a.xml")
    assert [(record.place, record.text) for record in records] == [("#2", "a </PubmedArticle> b.")]
    assert skipped == []


def test_files_that_were_put_together_are_read_to_their_end(read):
    records, skipped = read(FULL_PUBMED + FULL_PUBMED, "a.xml")
    assert [record.place for record in records] == ["#123", "#123"]
    assert skipped == []


def test_a_record_without_an_abstract_is_named(read):
    none = article(1, "x").replace("<Abstract><AbstractText>x</AbstractText></Abstract>", "")
    assert read(articles(none, article(2, "Two.")), "a.xml")[1] == [Skipped("#1", "it has no abstract")]


def test_bom_and_windows_line_ends_are_read(read):
    for content in (FULL_PUBMED, FULL_ATOM):
        assert read(b"\xef\xbb\xbf" + content.replace("\n", "\r\n").encode(), "a.xml") == read(content, "a.xml")


def test_the_declared_encoding_is_believed(read):
    content = "<?xml version='1.0' encoding='ISO-8859-1'?>" + articles(article(1, "Café."))
    assert [record.text for record in read(content.encode("latin-1"), "a.xml")[0]] == ["Café."]


def test_right_to_left_text_and_emoji_stay_as_they_are(read):
    text = "תקציר בעברית, ملخص بالعربية 🧬👩‍🔬."
    assert [record.text for record in read(articles(article(1, text)), "a.xml")[0]] == [text]


def test_a_bad_byte_costs_only_its_record(read):
    content = articles(article(1, "caf?"), article(2, "Two.")).encode().replace(b"caf?", b"caf\xe9")
    records, skipped = read(content, "a.xml")
    assert [record.place for record in records] == ["#2"]
    assert skipped == [Skipped("#1", "byte 0xe9 in its text is not of the file's encoding (--encoding)")]


def test_overlong_records_are_named_and_the_rest_is_in(read):
    content = articles(
        article(1, "x" * 10_000_000), article(2, "x" * 17_000_000), article(3, "<b/>" * 500_000), article(4, "Four.")
    )
    records, skipped = read(content, "a.xml")
    assert [record.place for record in records] == ["#4"]
    assert skipped == [
        Skipped("#1", "its abstract has 10,000,000 characters (at most 100,000)"),
        Skipped(":3", TOO_LONG),
        Skipped("#3", "it has more than 400,000 tags and attributes"),
    ]


def test_an_empty_set_has_no_records_and_is_whole(read):
    assert read("<?xml version='1.0'?><PubmedArticleSet/>", "a.xml") == ([], [])


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("<?xml version='1.0'?><!-- <feed> --><html><p>Hi</p></html>", "its root element <html> is neither"),
        ("Hello, this is a letter.", "not XML: it has no element"),
        ("<!DOCTYPE x [<!ENTITY a 'b'>", "not XML: it has no element"),
    ],
)
def test_a_file_of_another_kind_is_refused(read, content, reason):
    with pytest.raises(InputError, match=reason):
        read(content, "a.xml")
