"""The kinds of reader: each finds, each is told by its answers, and each is switched by a setting."""

from typing import get_args

import pytest

from rag.chain.chain import READER_OFF, Chain
from rag.index.store import Store
from rag.reader.columns import FEATURES, PRESENT, SENTENCE
from rag.reader.question import Question
from rag.reader.read import Reader
from rag.reader.weights import shipped_weights
from rag.settings import ReaderModel, ReaderSettings, Settings

QUESTION = "how many bits per parameter do GPT-style models memorise?"
MODELS = get_args(ReaderModel)


def chain_with(store: Store, settings: Settings, model: ReaderModel) -> Chain:
    return Chain(store, settings.model_copy(update={"reader": ReaderSettings(model=model)}))


@pytest.mark.parametrize("model", MODELS)
def test_every_kind_answers_and_says_which_it_is(store: Store, settings: Settings, model: ReaderModel) -> None:
    answer = chain_with(store, settings, model).ask(QUESTION)
    assert answer.citations[0].abstract_id == "4ad7f1d5ed9b"
    assert answer.reader == model
    assert 0 <= answer.confidence <= 1


def test_answers_without_the_reader_say_so(store: Store, settings: Settings) -> None:
    off = chain_with(store, settings, "off")
    for question in (QUESTION, "What is the boiling point of tungsten?"):
        answer = off.ask(question)
        assert answer.notes == (READER_OFF,)
        assert READER_OFF in answer.text
    assert READER_OFF not in chain_with(store, settings, "linear").ask(QUESTION).text


@pytest.mark.parametrize("model", MODELS)
def test_the_shipped_weights_fit_their_columns(model: ReaderModel) -> None:
    weights = shipped_weights(model)
    assert len(weights.sentence.weights) == len(SENTENCE[model])
    assert len(weights.says.weights) == len(weights.present.weights) == len(PRESENT[model])
    assert 0 < weights.refuse_below < 1
    assert len(set(FEATURES)) == len(FEATURES)


def test_shares_of_all_evidence_add_up_to_one(chain: Chain) -> None:
    passages = chain.retriever.passages(QUESTION)
    findings = chain.reader.read(Question.ask(QUESTION, chain.store.encoder), passages)
    assert len(findings.evidence) == sum(len(p.reading.abstract.sentences) for p in passages)
    assert sum(one.score for one in findings.evidence) == pytest.approx(1)
    assert [one.score for one in findings.evidence] == sorted((one.score for one in findings.evidence), reverse=True)


def test_nothing_to_read_is_no_evidence(chain: Chain) -> None:
    findings = Reader(lambda: chain.store.lexical.rarity).read(Question.ask(QUESTION, chain.store.encoder), [])
    assert (findings.evidence, findings.confidence, findings.near) == ((), 0.0, False)


def test_an_abstract_alone_leads_by_nothing(chain: Chain) -> None:
    question = Question.ask(QUESTION, chain.store.encoder)
    passages = chain.retriever.passages(QUESTION)
    leads = [PRESENT["transformer"].index(name) for name in PRESENT["transformer"] if name.endswith(("lead", "mean"))]
    alone, among = (
        chain.reader.judge(question, some).findings_columns(chain.store.lexical.rarity)[leads]
        for some in (passages[:1], passages)
    )
    assert sum(alone == 0) == 4
    assert all(among > 0)
