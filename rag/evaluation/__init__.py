"""The measuring instrument: datasets, metrics with intervals, runs, paired comparison, report.

from rag.evaluation import load_dataset, score_answer
"""

from rag.evaluation.datasets import Dataset, Question, load_dataset, read_questions
from rag.evaluation.intervals import bootstrap, mcnemar, paired_bootstrap, permutation_test, wilson
from rag.evaluation.metrics import QuestionScore, score_answer

__all__ = [
    "Dataset",
    "Question",
    "QuestionScore",
    "bootstrap",
    "load_dataset",
    "mcnemar",
    "paired_bootstrap",
    "permutation_test",
    "read_questions",
    "score_answer",
    "wilson",
]
