"""The chain over the real seeds: answers that quote, refusals that are plain, and the contract in every answer."""

import json
import re
from pathlib import Path

import pytest

from rag.chain.chain import Chain
from rag.corpus.files import seeds_path
from rag.errors import InputError
from rag.index.ingest import ingest
from rag.index.store import Store
from rag.records import Answer, Turn
from rag.settings import Settings

QUESTIONS = [
    json.loads(line) for line in (seeds_path() / "questions.jsonl").read_text(encoding="utf-8").split("\n") if line
]


def assert_contract(answer: Answer, store: Store) -> None:
    """What DESIGN calls the answer: quotes are exact, and markers, citations and sentences agree both ways."""
    markers = {int(number) for number in re.findall(r"\[(\d+)\]", answer.text)}
    numbers = [citation.number for citation in answer.citations]
    assert numbers == list(range(1, len(numbers) + 1))
    assert markers == set(numbers) == {n for sentence in answer.sentences for n in sentence.citations}
    for citation in answer.citations:
        text = store.abstract(citation.abstract_id).text
        assert citation.quotes
        assert all(text[quote.start : quote.end] == quote.text for quote in citation.quotes)
    quotes = {quote.text for citation in answer.citations for quote in citation.quotes}
    assert {sentence.text for sentence in answer.sentences} == quotes
    assert all(sentence.citations and 0 <= sentence.support <= 1 for sentence in answer.sentences)
    assert answer.answerable == (answer.refusal is None) == (answer.kind != "refusal")
    assert answer.text
    if not answer.answerable:
        assert not answer.sentences
        assert not answer.citations
    assert json.loads(json.dumps(answer.as_dict()))["question"] == answer.question


def test_every_answer_keeps_the_contract(chain: Chain) -> None:
    for record in QUESTIONS:
        history = [Turn(**turn) for turn in record["history"]]
        assert_contract(chain.ask(record["question"], history), chain.store)


@pytest.mark.parametrize(
    ("question", "abstract_id", "fact"),
    [
        ("how many bits per parameter do GPT-style models memorise?", "4ad7f1d5ed9b", "3.6 bits"),
        ("what does ATCI stand for?", "4e06d2946f80", "AI training carbon intensity"),
        ("By how much is the regret reduced by Chebyshev policies?", "b725c394546f", "4.18"),
        ("which baselines is LiveFigure better than", "a137296a7df9", "NanoBanana"),
        ("T2PO: when does it trigger thinking?", "c54b543144de", "marginal uncertainty change"),
    ],
)
def test_an_answer_quotes_the_fact(chain: Chain, question: str, abstract_id: str, fact: str) -> None:
    answer = chain.ask(question)
    assert answer.kind == "answer"
    assert answer.citations[0].abstract_id == abstract_id
    assert fact in answer.text
    assert len(answer.sentences) <= 3
    assert answer.confidence > chain.reader.weights.refuse_below


@pytest.mark.parametrize(
    "question",
    [
        "What is the best recipe for sourdough bread?",
        "Who is the president of France?",
        "how do I renew a passport in Brazil",
        "Which football club won the league in 1998?",
    ],
)
def test_what_the_abstracts_are_not_about_is_refused(chain: Chain, question: str) -> None:
    answer = chain.ask(question)
    assert (answer.kind, answer.refusal) == ("refusal", "off_topic")
    assert answer.text == "The abstracts in this collection do not deal with this."
    assert len(answer.retrieved) == 8


def test_a_missing_fact_names_the_nearest_abstract(chain: Chain) -> None:
    strict = Chain(
        chain.store,
        chain.settings.model_copy(update={"answer": chain.settings.answer.model_copy(update={"refuse_below": 1.0})}),
    )
    answer = strict.ask("Which GPU was TRIP-Bench run on?")
    assert (answer.kind, answer.refusal) == ("refusal", "not_stated")
    assert "TRIP-Bench" in answer.text
    assert_contract(answer, chain.store)


@pytest.mark.parametrize(
    "question", ["Who wrote the LiveFigure paper?", "who are the authors of TRIP-Bench", "Authors of SceneSmith?"]
)
def test_authors_are_not_guessed_from_a_text(chain: Chain, question: str) -> None:
    answer = chain.ask(question)
    assert (answer.kind, answer.refusal) == ("refusal", "not_stated")
    assert chain.ask(question, refuse_below=0.0).kind == "answer"


@pytest.mark.parametrize(
    "question", ["What do the authors of LiveFigure propose?", "What did the authors of TRIP-Bench build?"]
)
def test_what_authors_did_is_not_taken_for_who_they_are(chain: Chain, question: str) -> None:
    assert chain.ask(question).kind == "answer"


def test_a_paper_that_is_there_and_does_not_say_is_named(chain: Chain) -> None:
    answer = chain.ask("Which GPU was TRIP-Bench run on?", refuse_below=0.99)
    assert (answer.kind, answer.refusal) == ("refusal", "not_stated")
    assert "The nearest is in “TRIP-Bench" in answer.text
    quoted = answer.text.rsplit("“", 1)[1].rstrip("”")
    assert any(quoted in abstract.text for abstract in chain.store.abstracts())


def test_an_empty_store_says_so(empty_store: Store, settings: Settings) -> None:
    answer = Chain(empty_store, settings).ask("anything at all?")
    assert (answer.kind, answer.refusal, answer.retrieved) == ("refusal", "empty_store", ())
    assert "rag ingest" in answer.text


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ("", "the question is empty"),
        (" \n\t ", "the question is empty"),
        ("x" * 20_000, "20,000 characters; at most 4,000"),
        ("goats \udcff?", "not valid UTF-8 text"),
    ],
    ids=["none", "blank", "20,000 characters", "a lone surrogate"],
)
def test_a_question_that_cannot_be_asked(chain: Chain, question: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        chain.ask(question)


@pytest.mark.parametrize(
    "question",
    [
        "?",
        "the",
        "[1]",
        "🙂",
        "\x00",
        "%s {context_str} {query_str}",
        "a" * 3_999,
        "$x$ \\",
        "'; DROP TABLE abstracts; --",
    ],
)
def test_odd_questions_get_an_answer_or_a_refusal(chain: Chain, question: str) -> None:
    assert_contract(chain.ask(question), chain.store)


def test_brackets_of_an_abstract_are_no_markers(empty_store: Store, settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Heading\n\nThe zebrafish heart beats 140 times a minute [12], as shown in [3].\n")
    ingest(empty_store, [tmp_path / "a.txt"], 128)
    answer = Chain(empty_store, settings).ask("How often does the zebrafish heart beat a minute?")
    assert answer.sentences[0].text.endswith("minute [12], as shown in [3].")
    assert answer.text == "The zebrafish heart beats 140 times a minute [\u206012], as shown in [\u20603]. [1]"
    assert_contract(answer, empty_store)


def test_a_new_abstract_is_seen_at_the_next_question(empty_store: Store, settings: Settings, tmp_path: Path) -> None:
    chain = Chain(empty_store, settings)
    other = Store.open(empty_store.path, empty_store.encoder)
    (tmp_path / "a.txt").write_text("Heading\n\nThe zebrafish heart beats 140 times a minute.\n")
    assert chain.ask("How often does the zebrafish heart beat?").refusal == "empty_store"
    ingest(other, [tmp_path / "a.txt"], 128)
    assert "140 times" in chain.ask("How often does the zebrafish heart beat a minute?").text


def test_the_parts_are_llamaindex_parts(chain: Chain) -> None:
    from llama_index.core.base.base_retriever import BaseRetriever
    from llama_index.core.query_engine import RetrieverQueryEngine
    from llama_index.core.response_synthesizers import BaseSynthesizer

    assert isinstance(chain.retriever, BaseRetriever)
    assert isinstance(chain.answerer, BaseSynthesizer)
    nodes = chain.retriever.retrieve("how many bits per parameter?")
    assert nodes[0].node.node_id == "4ad7f1d5ed9b"
    assert nodes[0].node.text == chain.store.abstract("4ad7f1d5ed9b").text
    response = RetrieverQueryEngine(chain.retriever, chain.answerer).query("how many bits per parameter?")
    assert "3.6 bits per parameter" in str(response)
