"""Answers that are no single fact: lists, comparisons, the collection itself, several questions, politeness."""

from pathlib import Path

import pytest

from rag.chain.chain import Chain
from rag.chain.collection import about_records
from rag.index.ingest import ingest
from rag.index.store import Store
from rag.records import Abstract, Answer, Turn
from rag.settings import Settings


def abstract(place: int, text: str = "We sort keys. It is fast.", **fields: object) -> Abstract:
    values: dict[str, object] = {"sources": (f"a.txt#{place}",), **fields}
    end = text.index(". ") + 1
    return Abstract(f"{place:012x}", text, text[:20], ((0, end), (end + 1, len(text))), **values)  # type: ignore[arg-type]


def cited(answer: Answer) -> set[str]:
    return {citation.abstract_id for citation in answer.citations}


def test_a_list_names_each_abstract_once_with_its_sentence(chain: Chain) -> None:
    answer = chain.ask("Which papers are about diffusion language models?")
    assert (answer.kind, answer.form) == ("answer", "list")
    assert len(answer.sentences) == len(answer.citations) > 1
    assert answer.text.startswith(f"{len(answer.citations)} abstracts fit, the likeliest first:\n")
    assert len(answer.text.split("\n")) == 1 + len(answer.sentences)


def test_a_list_of_what_is_not_there_is_refused(chain: Chain) -> None:
    answer = chain.ask("List all papers about medieval basket weaving.")
    assert (answer.kind, answer.refusal) == ("refusal", "off_topic")
    assert chain.ask("List all papers about medieval basket weaving.", refuse_below=0.0).form == "list"


def test_a_comparison_has_a_side_for_each_name(chain: Chain) -> None:
    answer = chain.ask("LiveFigure versus TRIP-Bench: what does each of them do?")
    assert answer.form == "comparison"
    assert [side.name for side in answer.sides] == ["LiveFigure", "TRIP-Bench"]
    for side in answer.sides:
        assert side.sentences
        for place in side.sentences:
            (number,) = answer.sentences[place].citations
            text = chain.store.abstract(answer.citations[number - 1].abstract_id).text
            assert side.name in text


def test_a_side_that_the_collection_has_not_is_said_to_be_missing(chain: Chain) -> None:
    answer = chain.ask("How does LiveFigure compare with QuokkaDraw?")
    assert [side.name for side in answer.sides] == ["LiveFigure", "QuokkaDraw"]
    assert answer.sides[1].sentences == ()
    assert "QuokkaDraw: Not in this collection." in answer.text.split("\n")


def test_a_comparison_goes_back_to_what_was_talked_about(chain: Chain) -> None:
    first = chain.ask("What is LiveFigure?")
    history = [Turn("user", first.question), Turn("assistant", first.text)]
    answer = chain.ask("how does that compare with TRIP-Bench?", history)
    assert {side.name for side in answer.sides} == {"LiveFigure", "TRIP-Bench"}


@pytest.mark.parametrize(
    "question",
    ["how much faster is MACKO than cuSPARSE at 50% sparsity", "Does PAPO help on MiniImageNet more than on CUB?"],
)
def test_what_one_abstract_compares_is_its_own_affair(chain: Chain, question: str) -> None:
    assert chain.ask(question).form == "prose"


def test_two_questions_are_both_answered(chain: Chain) -> None:
    question = "How many bits per parameter do GPT-style models memorise? And what does ATCI stand for?"
    answer = chain.ask(question)
    assert "3.6 bits" in answer.text
    assert "AI training carbon intensity" in answer.text
    assert len(answer.citations) == 2


def test_a_question_with_a_tail_stays_with_its_paper(chain: Chain) -> None:
    question = "how many participants did the SceneSmith user study have, and what win rate did it get?"
    assert len(cited(chain.ask(question))) == 1


@pytest.mark.parametrize(
    ("message", "reply"),
    [
        ("thanks!", "You are welcome."),
        ("hello", "Hello."),
        ("what can you do?", "Questions are answered from the abstracts"),
    ],
)
def test_politeness_is_no_refusal_and_cites_nothing(chain: Chain, message: str, reply: str) -> None:
    answer = chain.ask(message)
    assert (answer.kind, answer.answerable, answer.refusal) == ("courtesy", True, None)
    assert answer.text.startswith(reply)
    assert (answer.sentences, answer.citations, answer.retrieved) == ((), (), ())


def test_a_greeting_before_a_question_does_not_hide_it(chain: Chain) -> None:
    assert chain.ask("hi, how many bits per parameter do GPT-style models memorise?").kind == "answer"


def test_the_collection_is_counted(chain: Chain) -> None:
    answer = chain.ask("How many abstracts are there?")
    assert (answer.kind, answer.answerable) == ("collection", True)
    assert "92 different abstracts" in answer.text


def test_every_abstract_that_is_counted_is_named(chain: Chain) -> None:
    answer = chain.ask("Which abstracts link to GitHub?")
    having = {one.id for one in chain.store.abstracts() if "github.com" in one.text.lower()}
    assert answer.kind == "collection"
    assert cited(answer) == having
    assert all("github.com" in sentence.text.lower() for sentence in answer.sentences)


def test_duplicates_are_named_with_their_places(empty_store: Store, settings: Settings, tmp_path: Path) -> None:
    text = "The zebrafish heart beats 140 times a minute. It rests at night.\n"
    for name in ("a", "b"):
        (tmp_path / f"{name}.txt").write_text(f"Heading\n\n{text}")
    ingest(empty_store, [tmp_path / "a.txt", tmp_path / "b.txt"], 128)
    answer = Chain(empty_store, settings).ask("Are there any duplicate abstracts?")
    assert answer.kind == "collection"
    assert "1 abstract came more than once" in answer.text
    assert "a.txt#1" in answer.text
    assert "b.txt#1" in answer.text


RECORDS = [
    abstract(
        1, "We sort keys. Code: https://github.com/foo/bar.", year=2024, venue="ICML", authors=("Ada L.", "Bob M.")
    ),
    abstract(2, "We count sheep. They are many.", year=2026, venue="ICML"),
    abstract(3, "We weave nets. They hold.", year=2026, venue="ACL"),
]


@pytest.mark.parametrize(
    ("question", "text", "named"),
    [
        ("How many abstracts are there?", "3 different abstracts, read from 3 places in 1 file.", 0),
        ("Which abstracts have code?", "1 of the 3 abstracts has a code link.", 1),
        ("what is the newest year?", "The newest year is 2026, with 2 abstracts.", 2),
        ("Which venues are there?", "ICML: 2; ACL: 1", 0),
        ("are there duplicates?", "No abstract stands in the collection twice.", 0),
        ("Who are the authors of the sorting paper?", "Ada L., Bob M.", 1),
        ("Where is the code of the sorting paper?", "https://github.com/foo/bar", 1),
        ("Which file is the sorting paper in?", "a.txt#1", 1),
    ],
)
def test_records_answer(question: str, text: str, named: int) -> None:
    counted = about_records(question, RECORDS, lambda _: RECORDS[0])
    assert counted is not None
    assert text in counted.text
    assert len(counted.named) == named
    assert not counted.missing


def test_a_record_that_does_not_say_is_a_refusal() -> None:
    counted = about_records("Who wrote the sheep paper?", RECORDS, lambda _: RECORDS[1])
    assert counted is not None
    assert counted.missing


@pytest.mark.parametrize("question", ["How fast is sorting?", "Why do sheep sleep?"])
def test_what_records_do_not_hold_is_left_to_the_abstracts(question: str) -> None:
    assert about_records(question, RECORDS, lambda _: RECORDS[0]) is None


def test_a_question_in_another_language_is_told_what_the_encoder_knows(chain: Chain) -> None:
    answer = chain.ask("Welche Farbe hat der Himmel und wie viele Wolken sind das?")
    assert answer.kind == "refusal"
    assert any(note.startswith("The question does not look like English") for note in answer.notes)
    assert answer.notes[0] in answer.text
    assert not chain.ask("What colour is the sky?").notes


def test_a_list_can_be_asked_about(chain: Chain) -> None:
    listed = chain.ask("Which papers are about diffusion language models?")
    second = chain.store.abstract(listed.citations[1].abstract_id)
    answer = chain.ask("what does the second one propose?", listed.turns)
    assert {citation.abstract_id for citation in answer.citations} == {second.id}
    counted = chain.ask("which of them link to GitHub?", listed.turns)
    assert f"of the {len(listed.citations)} abstracts" in counted.text
    assert cited(counted) <= cited(listed)


def test_a_paper_of_a_list_that_does_not_say_is_not_answered_from_another(chain: Chain) -> None:
    listed = chain.ask("Which papers are about diffusion language models?")
    place = next(
        number for number, one in enumerate(listed.citations, 1)
        if "LLaDA" not in chain.store.abstract(one.abstract_id).text
    )  # fmt: skip
    answer = chain.ask(f"What speedup over vanilla LLaDA does [{place}] give?", listed.turns)
    assert answer.kind == "refusal" or {one.abstract_id for one in answer.citations} == {
        listed.citations[place - 1].abstract_id
    }


def test_others_on_the_same_matter_are_listed_by_the_question_before(chain: Chain) -> None:
    first = chain.ask("How does FedVeer deal with noise in federated learning?")
    answer = chain.ask("which other papers do that?", first.turns)
    federated = {one.id for one in chain.store.abstracts() if "federated" in one.text.lower()} - cited(first)
    assert answer.form == "list"
    assert cited(answer) & federated
    assert not cited(answer) & cited(first)


def test_a_quote_in_the_conversation_is_known_again(chain: Chain) -> None:
    first = chain.ask("What is SceneSmith?")
    texts = [Turn("user", first.question), Turn("assistant", first.text)]
    answer = chain.ask("how many participants did its user study have?", texts)
    assert "SceneSmith" in answer.standalone_question
    assert "205 participants" in answer.text


def test_thanks_are_thanks_in_a_conversation_too(chain: Chain) -> None:
    first = chain.ask("What is SceneSmith?")
    answer = chain.ask("thanks, that helps", first.turns)
    assert (answer.kind, answer.standalone_question) == ("courtesy", answer.question)


def test_a_comparison_in_no_respect_says_what_each_side_does(chain: Chain) -> None:
    answer = chain.ask("how does LiveFigure compare with TRIP-Bench?")
    assert [bool(side.sentences) for side in answer.sides] == [True, True]


def test_the_code_is_that_of_the_paper_talked_about(chain: Chain) -> None:
    first = chain.ask("What is d3LLM?")
    answer = chain.ask("is the code out?", first.turns)
    assert answer.kind == "collection"
    assert answer.text.startswith("Code link of “d3LLM")
    assert cited(answer) == cited(first)


def test_papers_that_left_the_store_are_not_pointed_at(chain: Chain) -> None:
    history = [Turn("user", "What is it?"), Turn("assistant", "Gone.", ("ffffffffffff",))]
    for question in ("how fast is it?", "the second one?", "is the code out?", "how does it compare with LiveFigure?"):
        assert chain.ask(question, history).text


def test_a_correction_that_leaves_nothing_is_no_empty_store(chain: Chain) -> None:
    everything = tuple(one.id for one in chain.store.abstracts())
    history = [Turn("user", "What is d3LLM?"), Turn("assistant", "All of them.", everything)]
    answer = chain.ask("no, I meant the one for strings", history)
    assert (answer.kind, answer.refusal) == ("refusal", "off_topic")


@pytest.mark.parametrize("first", [True, False])
def test_a_question_among_several_that_nothing_answers_is_named(chain: Chain, first: bool) -> None:
    known, unknown = "How many bits per parameter do GPT-style models memorise?", "What is the best sourdough recipe?"
    answer = chain.ask(f"{unknown} {known}" if first else f"{known} {unknown}")
    assert answer.kind == "answer"
    assert "3.6 bits" in answer.text
    assert "“What is the best sourdough recipe?”: no sentence here answers this." in answer.text


def test_what_is_counted_is_narrowed_by_its_topic() -> None:
    records = [
        abstract(1, "We sort keys. Code: https://github.com/foo/bar."),
        abstract(2, "We sort strings. They are many."),
        abstract(3, "We weave nets. Code: https://github.com/foo/net."),
    ]
    counted = about_records("Which sorting papers have code?", records, lambda _: None)
    assert counted is not None
    assert counted.text == "1 of the 2 abstracts whose text has “sorting” has a code link."
    assert [one.abstract.id for one in counted.named] == [records[0].id]
    assert about_records("Which papers on quasars have code?", records, lambda _: None) is None
    assert about_records("How many papers are about sorting?", records, lambda _: None) is None
