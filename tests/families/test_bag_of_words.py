"""Texts as bags of words: scikit-learn's vocabulary and answers, in a table like any other column."""

import itertools
import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import naive_bayes
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer
from sklearn.model_selection import StratifiedKFold, cross_val_score

from examples import few_examples
from places import DATA
from posterior import GenerativeClassifier, NaiveBayes
from posterior.engines import local
from posterior.families import (
    BagOfWords,
    BagOfWordsDistribution,
    Bernoulli,
    BernoulliDistribution,
    Multinomial,
    MultinomialDistribution,
    Normal,
    bag_of_words,
)
from posterior.families.kept_counts import KeptCounts, counts_of_known
from posterior.notices import DataWarning

MODELS = {"multinomial": naive_bayes.MultinomialNB, "bernoulli": naive_bayes.BernoulliNB}
both_models = pytest.mark.parametrize("model", MODELS)
LETTERS = "abcdefghijklmnopqrstuvwxyz"
WORDS = [f"{a}{b}{c}" for a in LETTERS[:6] for b in LETTERS[:6] for c in "xyz"]
SPAM = DATA / "sms_spam.tsv"


def drawn_texts(n, seed=0, words=WORDS):
    """Texts of rare and common words whose shares differ by class, and their classes."""
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(3), rng.integers(0, 3, n - 3)])
    texts = [
        " ".join(words[j] for j in (len(words) * rng.random(rng.integers(1, 12)) ** (1 + k)).astype(int))
        for k in y
    ]
    return texts, y


def column(texts):
    """A block of one text column."""
    block = np.empty((len(texts), 1), dtype=object)
    block[:, 0] = texts
    return block


def alone(family, texts, y, **options):
    """The model of one text column."""
    return GenerativeClassifier([("text", family)]).fit(pd.DataFrame({"text": texts}), y, **options)


def words_of(model):
    ((_, distribution),) = model.model_.distributions
    return distribution.words


# -- scikit-learn's answers -----------------------------------------------------------------------


@both_models
@pytest.mark.parametrize("alpha", [1.0, 0.03, 10])
@pytest.mark.parametrize(
    "vectorizer",
    [
        CountVectorizer(),
        CountVectorizer(ngram_range=(1, 2), min_df=2),
        CountVectorizer(analyzer="char_wb", ngram_range=(2, 3), max_features=40),
        CountVectorizer(binary=True, max_df=0.1),
        CountVectorizer(vocabulary=["aax", "bby", "ccz"]),
        HashingVectorizer(n_features=64, alternate_sign=False, norm=None),
    ],
    ids=["plain", "pairs", "characters", "binary", "given", "hashed"],
)
def test_densities_are_those_of_a_scikit_learn_pipeline(model, alpha, vectorizer):
    texts, y = drawn_texts(400)
    texts[7] = texts[8] = ""
    new, _ = drawn_texts(100, seed=1, words=[*WORDS, "unseen", "unknown"])
    ours = alone(BagOfWords(model, alpha=alpha, vectorizer=vectorizer), texts, y)
    theirs = MODELS[model](alpha=alpha)
    count = clone(vectorizer).fit(texts)
    theirs.fit(count.transform(texts), y)
    probe = pd.DataFrame({"text": new})
    expected = theirs.predict_joint_log_proba(count.transform(new))
    assert ours.predict_joint_log_proba(probe) == pytest.approx(expected, rel=1e-9, abs=1e-9)
    expected = theirs.predict_log_proba(count.transform(new))
    assert ours.predict_log_proba(probe) == pytest.approx(expected, rel=1e-9, abs=1e-9)
    assert (ours.predict(probe) == theirs.predict(count.transform(new))).all()


SETTINGS = {
    "plain": {},
    "pairs": {"ngram_range": (1, 2)},
    "in two texts": {"min_df": 2},
    "in a share of the texts": {"min_df": 0.013, "max_df": 0.21},
    "in at most 90": {"max_df": 90},
    "the most frequent": {"max_features": 17},
    "the most frequent of many ties": {"ngram_range": (2, 3), "max_features": 500},
    "the most frequent, as floats": {"ngram_range": (2, 3), "max_features": 500, "dtype": np.float64},
    "the most frequent, counted once": {"binary": True, "max_features": 40, "min_df": 3},
    "more than there are": {"max_features": 10_000},
    "without stop words": {"stop_words": ["aax", "aay", "baz"]},
    "characters": {"analyzer": "char", "ngram_range": (1, 3), "min_df": 5},
    "pattern": {"token_pattern": "[a-c]+[xy]"},
    "own analyzer": {"analyzer": str.split, "min_df": 2},
}


@pytest.mark.parametrize("options", SETTINGS.values(), ids=SETTINGS)
def test_the_vocabulary_is_that_of_scikit_learn_whatever_the_chunks(options, monkeypatch):
    monkeypatch.setattr(local, "CHUNK_ROWS", 256)
    texts, y = drawn_texts(1500)
    expected = CountVectorizer(**options).fit(texts).get_feature_names_out()
    with_gaps = [t for text in texts for t in (text, None)]
    for rows, classes in ((texts, y), (with_gaps, np.repeat(y, 2))):
        assert words_of(alone(BagOfWords(vectorizer=CountVectorizer(**options)), rows, classes)) == tuple(
            expected
        )


@both_models
def test_long_texts_are_counted_in_batches(model, monkeypatch):
    texts, y = drawn_texts(300)
    family = BagOfWords(model, hashing=50)
    whole = alone(family, texts, y).class_log_density(pd.DataFrame({"text": texts}))
    monkeypatch.setattr("posterior.families.vocabulary.BATCH_CHARACTERS", 100)
    parts = alone(family, texts, y).class_log_density(pd.DataFrame({"text": texts}))
    assert parts == pytest.approx(whole, rel=1e-12)


# -- laws -------------------------------------------------------------------------------------------

FAMILIES = {
    "multinomial": BagOfWords(vectorizer=CountVectorizer(vocabulary=WORDS)),
    "multinomial-ml": BagOfWords(alpha=0, vectorizer=CountVectorizer(vocabulary=WORDS)),
    "bernoulli": BagOfWords("bernoulli", vectorizer=CountVectorizer(vocabulary=WORDS)),
    "hashed": BagOfWords(hashing=50, alpha=0.2),
    "bernoulli-hashed": BagOfWords("bernoulli", hashing=50),
}
every_family = pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
seeds = st.integers(0, 2**32 - 1)


def rows_of(seed, n=60, gaps=0.2):
    texts, y = drawn_texts(n, seed)
    rng = np.random.default_rng(seed)
    texts = [None if rng.random() < gaps else "" if rng.random() < 0.1 else text for text in texts]
    return column(texts), y, rng


def densities(family, statistics, block):
    return family.estimate(statistics).log_density(block)


def close(a, b):
    with np.errstate(invalid="ignore"):
        assert ((np.abs(a - b) <= 1e-9 * (1 + np.abs(b))) | (a == b)).all()


@every_family
@given(seed=seeds, cuts=st.lists(st.integers(0, 60), max_size=4))
@few_examples
def test_parts_add_up(family, seed, cuts):
    block, y, rng = rows_of(seed)
    weight = rng.integers(1, 4, len(y)).astype(float)
    bounds = [0, *sorted(cuts), len(y)]
    parts = [family.summarize(block[a:b], y[a:b], weight[a:b], 3) for a, b in itertools.pairwise(bounds)]
    rng.shuffle(parts)
    merged = parts[0]
    for part in parts[1:]:
        merged = merged + part
    close(
        densities(family, merged, block),
        densities(family, family.summarize(block, y, weight, 3), block),
    )


@every_family
@given(seed=seeds)
@few_examples
def test_weight_two_is_the_row_twice_and_order_is_irrelevant(family, seed):
    block, y, rng = rows_of(seed)
    weight = rng.integers(1, 4, len(y))
    rows = rng.permutation(np.repeat(np.arange(len(y)), weight))
    weighted = family.summarize(block, y, weight.astype(float), 3)
    repeated = family.summarize(block[rows], y[rows], None, 3)
    close(densities(family, weighted, block), densities(family, repeated, block))


@every_family
@given(seed=seeds)
@few_examples
def test_parts_of_one_class_each_add_up(family, seed):
    block, y, _ = rows_of(seed)
    parts = [
        family.summarize(block[y == k], np.zeros((y == k).sum(), int), None, 1).reindex(np.array([k]), 3)
        for k in range(3)
    ]
    close(
        densities(family, parts[2] + parts[0] + parts[1], block),
        densities(family, family.summarize(block, y, None, 3), block),
    )


@every_family
@given(seed=seeds)
@few_examples
def test_a_missing_text_is_integrated_out_and_not_counted(family, seed):
    block, y, _ = rows_of(seed)
    there = np.array([text is not None for text in block[:, 0]])
    fitted = family.estimate(family.summarize(block, y, None, 3))
    assert (fitted.log_density(block)[~there] == 0).all()
    without = family.estimate(family.summarize(block[there], y[there], None, 3))
    close(fitted.log_density(block[there]), without.log_density(block[there]))


@every_family
@given(seed=seeds)
@few_examples
def test_likelihoods_terms_and_relative_densities_agree_with_the_density(family, seed):
    block, y, rng = rows_of(seed)
    weight = rng.integers(1, 4, len(y)).astype(float)
    statistics = family.summarize(block, y, weight, 3)
    fitted = family.estimate(statistics)
    density = fitted.log_density(block)
    close(np.array(fitted.log_likelihood(statistics)), weight @ density[np.arange(len(y)), y])
    assert fitted.log_terms(block).shape == (len(y), 1, 3)
    assert (fitted.log_terms(block)[:, 0] == density).all()
    assert (fitted.log_relative(block) == density).all()
    assert (fitted.marginal([0]).log_density(block) == density).all()


@every_family
@pytest.mark.parametrize("weighted", [False, True])
def test_leaving_a_text_out_is_fitting_without_it(family, weighted):
    block, y, rng = rows_of(5, n=40)
    weight = rng.integers(1, 4, len(y)).astype(float) if weighted else None
    statistics = family.summarize(block, y, weight, 3)
    found = family.leave_one_out(statistics, family.estimate(statistics))(block, y, weight)
    for i in range(len(y)):
        rest = np.arange(len(y)) != i
        without = family.summarize(block[rest], y[rest], None if weight is None else weight[rest], 3)
        if not found.delicate[i]:
            close(found.log_density[i], family.estimate(without).log_density(block[[i]])[0])
    assert not found.delicate.all()


@every_family
def test_the_words_are_described_by_the_family_of_counts(family):
    block, y, _ = rows_of(3, gaps=0)
    counts = clone(family.reader).transform(block[:, 0])
    plain = (
        Bernoulli(family.alpha) if family.model == "bernoulli" else Multinomial(family.alpha, ordered=True)
    )
    inner = plain.estimate(plain.summarize(np.asarray(counts.toarray(), float), y, None, 3))
    fitted = family.estimate(family.summarize(block, y, None, 3))
    close(fitted.log_density(block), inner.log_density(np.asarray(counts.toarray(), float)))
    assert fitted.n_parameters == inner.n_parameters


@both_models
def test_samples_refit_to_the_model_they_came_from(model):
    texts, y = drawn_texts(600)
    fitted = alone(BagOfWords(model), texts, y)
    X, drawn = fitted.sample(30_000, random_state=0)
    assert isinstance(X, pd.DataFrame)
    vectorizer = CountVectorizer(vocabulary=words_of(fitted))
    again = alone(BagOfWords(model, alpha=0, vectorizer=vectorizer), X["text"], drawn)
    ((_, words),), (sums,) = fitted.model_.distributions, again.statistics_.blocks
    found = again.model_.distributions[0][1].distribution.probability
    p = words.distribution.probability
    draws = sums.total.sum(axis=1, keepdims=True) if model == "multinomial" else sums.weight
    assert np.abs((found - p) / np.sqrt(p * (1 - p) / draws)).max() < 5
    if model == "multinomial":
        lengths = sums.total.sum(axis=1) / sums.weight[:, 0]
        assert lengths == pytest.approx(words.distribution.mean_total, rel=0.02)


# -- one column of a table ----------------------------------------------------------------------------


def mixed_table(n=300, seed=0):
    texts, y = drawn_texts(n, seed)
    rng = np.random.default_rng(seed)
    texts = [None if rng.random() < 0.1 else f"the {text} of it" for text in texts]
    table = {
        "size": (rng.normal(size=n) + y).tolist(),
        "note": texts,
        "state": rng.choice(["NY", "TX", "CA"], n).tolist(),
        "flag": (rng.random(n) < 0.2 + 0.2 * y).tolist(),
    }
    return table, np.array(["a", "b", "c"])[y]


FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}


@pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)
def test_a_text_stands_beside_numbers_and_categories_in_any_frame(make):
    table, y = mixed_table()
    model = NaiveBayes(alpha=0.5, tied=False, weights=1.0).fit(make(table), y)
    assert model.schema_.kinds == ("continuous", "text", "categorical", "binary")
    assert model.notes_ == ()
    rest = {name: cells for name, cells in table.items() if name != "note"}
    others = NaiveBayes(alpha=0.5, tied=False, weights=1.0).fit(pd.DataFrame(rest), y)
    texts = alone(BagOfWords(alpha=0.5), table["note"], y)
    expected = others.class_log_density(pd.DataFrame(rest)) + texts.class_log_density(
        pd.DataFrame({"text": table["note"]})
    )
    assert model.class_log_density(make(table)) == pytest.approx(expected, rel=1e-10)
    gaps = {**table, "note": [None] * len(y)}
    expected = others.predict_proba(pd.DataFrame(rest))
    assert model.predict_proba(make(gaps)) == pytest.approx(expected, rel=1e-10)
    sampled, _ = model.sample(50, random_state=1)
    assert type(sampled) is type(make(table))
    assert model.predict_proba(sampled).shape == (50, 3)


def test_an_array_of_objects_and_a_declared_category_are_read_as_texts():
    texts, y = drawn_texts(200)
    expected = alone(BagOfWords(), texts, y).predict_proba(pd.DataFrame({"text": texts}))
    array = GenerativeClassifier([(0, BagOfWords)]).fit(column(texts), y)
    assert (array.predict_proba(column(texts)) == expected).all()
    frame = pd.DataFrame({"text": pd.Categorical(texts)})
    named = GenerativeClassifier([("text", BagOfWords())]).fit(frame, y)
    assert (named.predict_proba(frame) == expected).all()
    short = pd.DataFrame({"word": [text.split()[0] for text in texts]})
    assert NaiveBayes(tied=False, weights=1.0).fit(short, y).schema_.kinds == ("categorical",)
    named = NaiveBayes(families={"word": BagOfWords()}, tied=False, weights=1.0).fit(short, y)
    assert named.schema_.kinds == ("text",)


def test_two_text_columns_have_a_vocabulary_each():
    texts, y = drawn_texts(300)
    other, _ = drawn_texts(300, seed=5, words=[w.upper() + "q" for w in WORDS])
    frame = pd.DataFrame({"title": [f"it is {t}" for t in texts], "body": [f"so is {t}" for t in other]})
    for model in (
        NaiveBayes(tied=False, weights=1.0),
        GenerativeClassifier(),
        GenerativeClassifier([(["title", "body"], BagOfWords())]),
        GenerativeClassifier([("title", BagOfWords())], remainder="auto"),
        NaiveBayes(families={("title", "body"): BagOfWords()}, tied=False, weights=1.0),
    ):
        fitted = model.fit(frame, y)
        assert [b.columns for b, _ in fitted.model_.distributions] == [(0,), (1,)]
        apart = [alone(BagOfWords(), frame[name], y) for name in frame]
        expected = sum(
            m.class_log_density(frame[[name]].set_axis(["text"], axis=1))
            for m, name in zip(apart, frame, strict=True)
        )
        assert fitted.class_log_density(frame) == pytest.approx(expected, rel=1e-12)


def test_the_alpha_of_naive_bayes_is_that_of_the_words():
    texts, y = drawn_texts(200)
    frame = pd.DataFrame({"text": [f"it is {t}" for t in texts]})
    expected = alone(BagOfWords(alpha=0.25), frame["text"], y).predict_proba(frame)
    assert (
        NaiveBayes(alpha=0.25, tied=False, weights=1.0).fit(frame, y).predict_proba(frame) == expected
    ).all()


def test_words_that_were_not_seen_are_passed_over():
    texts, y = drawn_texts(200)
    model = alone(BagOfWords(), texts, y)
    known, new = (pd.DataFrame({"text": [t]}) for t in ("aax bby", "aax zebra bby quagga"))
    assert (model.predict_proba(new) == model.predict_proba(known)).all()
    nothing = pd.DataFrame({"text": ["zebra quagga", "", None]})
    assert model.predict_proba(nothing) == pytest.approx(np.tile(model.priors_, (3, 1)), rel=1e-12)


def test_an_empty_text_lacks_every_word():
    texts, y = drawn_texts(200)
    model = alone(BagOfWords("bernoulli"), texts, y)
    ((_, words),) = model.model_.distributions
    empty = model.class_log_density(pd.DataFrame({"text": [""]}))
    assert empty[0] == pytest.approx(words.distribution.log_off.sum(axis=1), rel=1e-12)


@both_models
def test_weights_are_repetitions_in_the_vocabulary_too(model):
    texts, y = drawn_texts(300)
    weight = np.random.default_rng(0).integers(0, 4, len(y))
    weight[:3] = 1
    rows = np.repeat(np.arange(len(y)), weight)
    for options in ({"min_df": 7}, {"max_df": 0.05}, {"max_features": 30}):
        family = BagOfWords(model, vectorizer=CountVectorizer(**options))
        weighted = alone(family, texts, y, sample_weight=weight)
        repeated = alone(family, [texts[i] for i in rows], y[rows])
        assert words_of(weighted) == words_of(repeated)
        probe = pd.DataFrame({"text": texts})
        assert weighted.predict_log_proba(probe) == pytest.approx(repeated.predict_log_proba(probe), rel=1e-9)


def test_contributions_have_one_term_for_the_text():
    table, y = mixed_table()
    model = NaiveBayes(tied=False, weights=1.0).fit(pd.DataFrame(table), y)
    found = model.contributions(pd.DataFrame(table)[:20], of="a", against="b")
    assert "note" in found.terms
    assert found.values.sum(axis=1) == pytest.approx(found.total, rel=1e-9, abs=1e-9)


@both_models
@pytest.mark.parametrize("hashing", [False, 64], ids=["known", "hashed"])
@pytest.mark.parametrize("alpha", [1.0, 0.0])
def test_contributions_by_word_add_up_to_the_term_of_the_text_and_to_the_total(model, hashing, alpha):
    table, y = mixed_table()
    X = pd.DataFrame(table)
    family = BagOfWords(model, alpha=alpha, hashing=hashing)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        fitted = NaiveBayes(families={"text": family}, tied=False, weights=1.0).fit(X, y)
        some = X[:20].assign(note=[*(X["note"][:17]), "the aax aax aax fresh of it", "", None])
        whole = fitted.contributions(some, of="a", against="b")
        found = fitted.contributions(some, of="a", against="b", words=True)
    words = [j for j, name in enumerate(found.terms) if name.startswith("note[")]
    others = [j for j in range(len(found.terms)) if j not in words]
    assert [found.terms[j] for j in others] == [name for name in whole.terms if name != "note"]
    by_text = whole.values[:, whole.terms.index("note")]
    finite = np.isfinite(found.values).all(axis=1) & np.isfinite(by_text)
    assert finite.sum() > 2
    np.testing.assert_allclose(found.values[:, words].sum(axis=1)[finite], by_text[finite], atol=1e-9)
    np.testing.assert_array_equal(found.total, whole.total)
    assert not found.values[-1, words].any()  # a missing text says nothing
    assert not found.there[-1, words].any()


def test_a_word_adds_its_log_ratio_as_often_as_it_is_there():
    texts, y = drawn_texts(60)
    fitted = alone(BagOfWords(), texts, y)
    words, probability = fitted.model_.distributions[0][1].word_probabilities
    known = dict(zip(words, np.log(probability[0] / probability[2]), strict=True))
    some = words[:3]
    found = fitted.contributions(
        pd.DataFrame({"text": [f"{some[0]} {some[1]} {some[0]} unheard", some[2]]}),
        of=0,
        against=2,
        words=True,
    )
    assert found.terms == ("prior", *(f"text[{word}]" for word in some))
    np.testing.assert_allclose(found.values[0, 1:3], [2 * known[some[0]], known[some[1]]])
    assert found.there[:, 1:].tolist() == [[True, True, False], [False, False, True]]
    first, second = str(found).split("\n\n")
    assert some[2] not in first
    assert some[0] not in second


@both_models
def test_words_of_rows_do_not_depend_on_the_size_of_a_chunk_or_on_other_rows(model, monkeypatch):
    texts, y = drawn_texts(80)
    fitted = alone(BagOfWords(model), texts, y)
    X = pd.DataFrame({"text": texts})
    whole = fitted.contributions(X, of=0, against=1, words=True)
    for name in ("FILL_ROWS", "FILL_CELLS"):
        monkeypatch.setattr(local, name, 64)
    in_parts = fitted.contributions(X, of=0, against=1, words=True)
    assert in_parts.terms == whole.terms
    np.testing.assert_array_equal(in_parts.values, whole.values)
    for i in (0, 5, 41):
        single = fitted.contributions(X[i : i + 1], of=0, against=1, words=True)
        there = whole.there[i]
        assert single.terms == tuple(np.array(whole.terms)[there].tolist())
        np.testing.assert_allclose(single.values[0], whole.values[i, there], rtol=1e-9, atol=1e-12)


def test_a_row_is_left_out_of_a_table_with_texts_as_by_fitting_without_it():
    table, y = mixed_table(60)
    X = pd.DataFrame(table)
    model = NaiveBayes(
        families={"text": BagOfWords(vectorizer=CountVectorizer(vocabulary=WORDS))}, tied=False, weights=1.0
    )
    found = model.fit(X, y).leave_one_out_log_proba(X, y)
    for i in (0, 7, int(X["note"].isna().to_numpy().argmax())):
        rest = np.arange(len(y)) != i
        expected = clone(model).fit(X[rest], y[rest]).predict_log_proba(X[i : i + 1])[0]
        assert found[i] == pytest.approx(expected, rel=1e-9)


def test_alpha_is_chosen_by_cross_validation():
    texts, y = drawn_texts(300)
    model = alone(BagOfWords(alpha="auto"), texts, y)
    chosen = model.model_.spec.blocks[0].family.alpha
    assert chosen in BagOfWords.choices["alpha"]
    expected = alone(BagOfWords(alpha=chosen), texts, y)
    probe = pd.DataFrame({"text": texts})
    assert model.predict_proba(probe) == pytest.approx(expected.predict_proba(probe), rel=1e-12)


def test_the_log_likelihood_and_criteria_are_those_of_the_rows():
    table, y = mixed_table()
    model = NaiveBayes(tied=False, weights=1.0).fit(pd.DataFrame(table), y)
    joint = model.predict_joint_log_proba(pd.DataFrame(table))
    by_row = joint[np.arange(len(y)), np.searchsorted(model.classes_, y)].sum()
    assert model.log_likelihood_ == pytest.approx(by_row, rel=1e-9)
    words = next(d for _, d in model.model_.distributions if isinstance(d, BagOfWordsDistribution))
    rest = pd.DataFrame(table).drop(columns="note")
    without = NaiveBayes(tied=False, weights=1.0).fit(rest, y)
    assert model.n_parameters_ == without.n_parameters_ + 3 * (len(words.words) - 1)


def test_models_survive_pickling_and_cloning():
    texts, y = drawn_texts(200)
    frame = pd.DataFrame({"text": texts})
    estimator = GenerativeClassifier([("text", BagOfWords(vectorizer=CountVectorizer(min_df=2)))])
    expected = estimator.fit(frame, y).predict_proba(frame)
    again = pickle.loads(pickle.dumps(estimator))
    assert (again.predict_proba(frame) == expected).all()
    assert (clone(estimator).fit(frame, y).predict_proba(frame) == expected).all()


@pytest.mark.parametrize("texts", [["a b c", "d e f", "g h i", "j k l"], ["", " ", "?", "! ! !"]])
def test_texts_without_a_word_are_pointed_out_and_left_out(texts):
    frame = pd.DataFrame({"x": [0.0, 1.0, 2.0, 4.0], "t": texts})
    y = [0, 0, 1, 1]
    with pytest.warns(DataWarning, match="the texts of 't' hold no word: left out"):
        model = NaiveBayes(kinds={"t": "text"}, tied=False, weights=1.0).fit(frame, y)
    expected = NaiveBayes(tied=False, weights=1.0).fit(frame[["x"]], y).predict_proba(frame[["x"]])
    assert model.predict_proba(frame) == pytest.approx(expected, rel=1e-12)
    assert model.sample(3, random_state=0)[0]["t"].isna().all()


def test_a_declared_text_column_without_a_value_is_left_out():
    frame = pd.DataFrame({"x": [0.0, 1.0, 2.0, 4.0], "t": [None] * 4})
    with pytest.warns(DataWarning, match="'t'"):
        model = NaiveBayes(kinds={"t": "text"}, tied=False, weights=1.0).fit(frame, [0, 0, 1, 1])
    assert [b.columns for b, _ in model.model_.distributions] == [(0,)]


# -- streams ------------------------------------------------------------------------------------------

STREAMS = {
    "hashed": BagOfWords(hashing=True),
    "hashed in few": BagOfWords("bernoulli", hashing=128),
    "hashed by scikit-learn's": BagOfWords(
        vectorizer=HashingVectorizer(n_features=512, alternate_sign=False, norm=None, ngram_range=(1, 2))
    ),
    "given words": BagOfWords(vectorizer=CountVectorizer(vocabulary=WORDS)),
}


@pytest.mark.parametrize("family", STREAMS.values(), ids=STREAMS)
def test_parts_of_a_table_give_the_model_of_the_whole(family):
    table, y = mixed_table()
    X = pd.DataFrame(table)
    whole = NaiveBayes(families={"text": family}, tied=False, weights=1.0).fit(X, y)
    parts = NaiveBayes(families={"text": family}, tied=False, weights=1.0)
    for start in range(0, len(X), 90):
        parts.partial_fit(X[start : start + 90], y[start : start + 90])
    assert parts.predict_log_proba(X) == pytest.approx(whole.predict_log_proba(X), rel=1e-9, abs=1e-12)
    a, b = (
        NaiveBayes(families={"text": pickle.loads(pickle.dumps(family))}, tied=False, weights=1.0)
        for _ in range(2)
    )
    added = a.fit(X[:111], y[:111]) + b.fit(X[111:], y[111:])
    assert added.predict_log_proba(X) == pytest.approx(whole.predict_log_proba(X), rel=1e-9, abs=1e-12)
    assert added.log_likelihood_ == pytest.approx(whole.log_likelihood_, rel=1e-9)


def test_a_text_column_that_starts_without_a_value_joins_later():
    table, y = mixed_table()
    X = pd.DataFrame(table)
    early = X.assign(note=None)
    model = NaiveBayes(families={"text": BagOfWords(hashing=64)}, tied=False, weights=1.0)
    model.partial_fit(early[:100], y[:100]).partial_fit(X[100:], y[100:])
    expected = NaiveBayes(families={"text": BagOfWords(hashing=64)}, tied=False, weights=1.0).fit(
        pd.concat([early[:100], X[100:]]), y
    )
    assert model.predict_log_proba(X) == pytest.approx(expected.predict_log_proba(X), rel=1e-9, abs=1e-12)
    unprepared = NaiveBayes(tied=False, weights=1.0).partial_fit(early[:100], y[:100])
    with pytest.raises(ValueError, match=r"column 'note': the words .* BagOfWords\(hashing=True\)"):
        unprepared.partial_fit(X[100:], y[100:])


def test_learnt_words_cannot_be_added_and_the_remedy_is_named():
    table, y = mixed_table()
    X = pd.DataFrame(table)
    remedy = r"column 'note': .*families=\{\"text\": BagOfWords\(hashing=True\)\}"
    with pytest.raises(ValueError, match=remedy):
        NaiveBayes(tied=False, weights=1.0).partial_fit(X, y)
    model = NaiveBayes(tied=False, weights=1.0).fit(X, y)
    with pytest.raises(ValueError, match=remedy):
        model.partial_fit(X, y)
    with pytest.raises(ValueError, match=remedy):
        _ = model + NaiveBayes(tied=False, weights=1.0).fit(X[:200], y[:200])


def test_hashed_words_are_not_known_and_their_samples_are_missing():
    table, y = mixed_table()
    model = NaiveBayes(families={"text": BagOfWords(hashing=True)}, tied=False, weights=1.0).fit(
        pl.DataFrame(table), y
    )
    assert model.sample(7, random_state=0)[0]["note"].null_count() == 7


# -- settings ------------------------------------------------------------------------------------------


def test_families_are_equal_if_their_settings_are():
    def pairs():
        return CountVectorizer(ngram_range=(1, 2), stop_words=["the"])

    assert BagOfWords(vectorizer=pairs()) == BagOfWords(vectorizer=pairs())
    assert hash(BagOfWords(vectorizer=pairs())) == hash(BagOfWords(vectorizer=pairs()))
    assert BagOfWords() == BagOfWords(vectorizer=CountVectorizer())
    by_array = CountVectorizer(vocabulary=np.array(WORDS))
    assert BagOfWords(vectorizer=by_array) == BagOfWords(vectorizer=clone(by_array))
    different = [
        BagOfWords(),
        BagOfWords("bernoulli"),
        BagOfWords(alpha=2),
        BagOfWords(hashing=True),
        BagOfWords(hashing=8),
        BagOfWords(vectorizer=pairs()),
        BagOfWords(vectorizer=CountVectorizer(vocabulary=WORDS)),
        Normal(),
    ]
    assert len(set(different)) == len(different)


def test_a_vectorizer_that_changes_later_changes_no_family():
    texts, y = drawn_texts(200)
    vectorizer = CountVectorizer()
    family = BagOfWords(vectorizer=vectorizer)
    vectorizer.set_params(max_features=3)
    assert family == BagOfWords()
    alone(family, texts, y)
    assert not hasattr(vectorizer, "vocabulary_")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model": "poisson"}, "model must be 'multinomial' or 'bernoulli', found 'poisson'"),
        ({"alpha": -1}, "alpha must not be negative"),
        ({"alpha": [1, 2]}, "alpha must be one number"),
        ({"alpha": "much"}, "alpha must be a number or 'auto'"),
        ({"hashing": 0}, "hashing must be True, False or a number"),
        ({"hashing": "yes"}, "hashing must be True, False or a number"),
        ({"hashing": True, "vectorizer": CountVectorizer()}, "both given"),
        ({"vectorizer": TfidfVectorizer()}, "must count words.*found TfidfVectorizer"),
        ({"vectorizer": CountVectorizer}, "must count words.*found CountVectorizer"),
        ({"vectorizer": str.split}, "must count words"),
        ({"vectorizer": HashingVectorizer()}, "alternate_sign=False and norm=None"),
        ({"vectorizer": CountVectorizer(input="filename")}, "input='content'"),
        ({"vectorizer": CountVectorizer(min_df=-1)}, "min_df"),
        ({"vectorizer": CountVectorizer(ngram_range=(2, 1))}, "ngram_range"),
        ({"vectorizer": CountVectorizer(vocabulary=["a", "a"])}, "Duplicate term"),
    ],
)
def test_bad_settings_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        BagOfWords(**options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"min_df": 100}, "column 'text': min_df=100 and max_df=1.0 leave none of .* words of its 100 texts"),
        ({"min_df": 5, "max_df": 2}, "column 'text': max_df=2 allows fewer documents than min_df=5"),
    ],
)
def test_limits_that_leave_no_word_are_refused(options, message):
    texts, y = drawn_texts(100)
    with pytest.raises(ValueError, match=message):
        alone(BagOfWords(vectorizer=CountVectorizer(**options)), texts, y)


def test_columns_of_numbers_are_refused():
    frame = pd.DataFrame({"x": [1.0, 2.0]})
    with pytest.raises(ValueError, match="column 'x' is read as text: strings were expected"):
        GenerativeClassifier([("x", BagOfWords())]).fit(frame, [0, 1])


def test_an_open_alpha_is_not_estimated():
    family = BagOfWords(alpha="auto", hashing=8)
    assert family.open_settings["alpha"] == Multinomial(alpha="auto").open_settings["alpha"]
    block, y, _ = rows_of(0)
    with pytest.raises(ValueError, match='alpha="auto" of BagOfWords'):
        family.estimate(family.summarize(block, y, None, 3))


# -- distributions by hand ------------------------------------------------------------------------------


def test_a_distribution_by_hand_makes_a_classifier():
    words = MultinomialDistribution([[0.7, 0.3], [0.1, 0.9]], ordered=True)
    model = GenerativeClassifier.from_distributions(
        ["ham", "spam"], [0.5, 0.5], [("text", BagOfWordsDistribution(words, ["lunch", "prize"]))]
    )
    odds = np.array([0.7 * 0.3, 0.1 * 0.9])
    found = model.predict_proba(pd.DataFrame({"text": ["Prize for lunch", None]}))
    assert found == pytest.approx(np.array([odds / odds.sum(), [0.5, 0.5]]))
    fitted = CountVectorizer().fit(["lunch prize"])
    assert BagOfWordsDistribution(words, fitted).words == ("lunch", "prize")


@pytest.mark.parametrize(
    ("vectorizer", "message"),
    [
        (["one"], "the vectorizer knows 1 words and the distribution describes 2"),
        (CountVectorizer(), "the vectorizer knows no words"),
        (TfidfVectorizer(vocabulary=["a", "b"]), "must count words"),
    ],
)
def test_a_distribution_needs_a_word_for_each_column(vectorizer, message):
    with pytest.raises(ValueError, match=message):
        BagOfWordsDistribution(BernoulliDistribution([[0.5, 0.5]]), vectorizer)


# -- real texts -----------------------------------------------------------------------------------------


def spam():
    if not SPAM.exists():
        pytest.skip("the SMS Spam Collection is not at hand")
    rows = [line.split("\t", 1) for line in SPAM.read_text(encoding="utf-8").split("\n") if line]
    return pd.DataFrame({"text": [text for _, text in rows]}), np.array([label for label, _ in rows])


PAIRS = {"token_pattern": r"\w+|[^\w\s]", "ngram_range": (1, 2)}


@pytest.mark.parametrize(
    ("family", "least"),
    [
        (BagOfWords(), 0.985),
        pytest.param(BagOfWords("bernoulli", alpha=0.03), 0.985, marks=pytest.mark.long),
        pytest.param(BagOfWords(vectorizer=CountVectorizer(**PAIRS)), 0.99, marks=pytest.mark.long),
    ],
    ids=["default", "bernoulli", "pairs with punctuation"],
)
def test_spam_is_told_from_ham_in_the_sms_collection(family, least):
    X, y = spam()
    model = GenerativeClassifier([("text", family)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        score = cross_val_score(model, X, y, cv=StratifiedKFold(10)).mean()
    assert score >= least


@both_models
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("options", [{}, {"min_df": 3}, {"max_features": 20}, {"binary": True}])
def test_texts_are_read_once_and_counted_as_if_they_were_read_twice(model, options, weighted, monkeypatch):
    texts, y = drawn_texts(300, seed=5)
    texts[7] = None
    weight = np.random.default_rng(0).uniform(0.5, 2.0, len(y)) if weighted else None
    family = BagOfWords(model, vectorizer=CountVectorizer(**options))

    def fitted():
        found = GenerativeClassifier([(0, family)]).fit(column(texts), y, sample_weight=weight)
        ((_, distribution),) = found.model_.distributions
        return found, distribution

    read = []
    count = bag_of_words._counts
    monkeypatch.setattr(bag_of_words, "_counts", lambda *a: read.append(a) or count(*a))
    once, of_once = fitted()
    assert not read
    monkeypatch.setattr("posterior.families.kept_counts.MOST_CELLS", 0)  # nothing is kept
    _, of_twice = fitted()
    assert len(read) == 1
    monkeypatch.setattr("posterior.families.kept_counts.MOST_CHARACTERS", 0)  # nor counted
    _, of_old = fitted()
    for other in (of_twice, of_old):
        assert of_once.words == other.words
        np.testing.assert_array_equal(of_once.distribution.probability, other.distribution.probability)
    assert b"kept" not in pickle.dumps(once)


@pytest.mark.parametrize(
    "options", [{}, {"binary": True}, {"ngram_range": (1, 2)}, {"analyzer": "char"}, {"lowercase": False}]
)
def test_known_words_are_counted_as_scikit_learn_counts_them(options):
    texts, _ = drawn_texts(60, seed=6)
    texts = [*texts, "", "Never seen before, never", "so SO so it goes"]
    known = CountVectorizer(**options).fit(texts[:40])
    found, truth = counts_of_known(texts, known), known.transform(texts)
    assert found.has_canonical_format
    assert found.shape == truth.shape
    np.testing.assert_array_equal(found.toarray(), truth.toarray())


@pytest.mark.parametrize(
    "options", [{"tokenizer": str.split}, {"stop_words": ["so"]}, {"analyzer": str.split}]
)
def test_words_that_are_cut_by_rules_of_the_user_are_left_to_scikit_learn(options):
    assert counts_of_known(["so it goes"], CountVectorizer(**options)) is None


def test_kept_counts_are_those_of_the_very_same_texts_and_handed_out_once():
    texts, kept = ["so it goes", "so so"], KeptCounts()
    assert kept.frequencies(texts, CountVectorizer(), None, once=True).documents == {
        "so": 2,
        "it": 1,
        "goes": 1,
    }
    assert kept.take(["so it goes", "".join(["so", " so"])], {"so": 0}) is None
    np.testing.assert_array_equal(kept.take(list(texts), {"goes": 1, "so": 0}).toarray(), [[1, 1], [2, 0]])
    assert kept.take(texts, {"so": 0}) is None


def test_kept_counts_are_taken_while_another_thread_takes_its_own():
    first, second, kept = ["so it goes"], ["so so"], KeptCounts()
    for texts in (first, second):
        kept.frequencies(texts, CountVectorizer(), None, once=False)
    known, others = {"so": 0}, []

    class Slow(list):
        def __iter__(self):  # between the look at what is kept and the taking of it, another is faster
            others.append(kept.take(first, known))
            return super().__iter__()

    assert kept.take(Slow(second), known).toarray().tolist() == [[2.0]]
    assert [other.toarray().tolist() for other in others if other is not None] == [[[1.0]]]
    assert kept.take(second, known) is None
