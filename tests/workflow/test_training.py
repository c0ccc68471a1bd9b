"""A trained model keeps the settings that it was fitted with."""

import pytest
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

import posterior
from posterior.datasets import load_penguins
from posterior.workflow import train

PENGUINS = load_penguins()


@pytest.mark.filterwarnings("ignore:no row can be called an outlier:posterior.notices.DataWarning")
def test_the_folds_of_a_trained_model_are_those_it_was_fitted_with(tmp_path):
    model = train(PENGUINS.X, PENGUINS.y, "naive-bayes", seed=7)
    assert isinstance(model.cv, StratifiedKFold)
    assert model.cv.random_state == 7
    posterior.save(model, tmp_path / "model")
    loaded = posterior.load(tmp_path / "model")
    assert vars(loaded.cv) == vars(model.cv)
    again = clone(loaded).fit(PENGUINS.X, PENGUINS.y)
    assert (again.learnt_.held_out.log_posterior == model.learnt_.held_out.log_posterior).all()


@pytest.mark.parametrize("name", ["naive-bayes", "lda", "logistic", "least-squares"])
def test_the_columns_of_a_table_are_looked_at_once(name, monkeypatch):
    looked = []
    infer = posterior.schema.Schema.infer.__func__

    def counting(cls, source, kinds=None, only=None):
        looked.append(source.n_rows)
        return infer(cls, source, kinds, only)

    monkeypatch.setattr(posterior.schema.Schema, "infer", classmethod(counting))
    train(PENGUINS.X, PENGUINS.y, name)
    assert looked == [len(PENGUINS.y)]
