"""What the textbooks claim of generative and discriminative models, put to the test on fixed tables.

`python -m benchmarks.claims` runs four experiments and writes results/claims.json, for docs/claims.md:

* less_data: generative models need fewer rows (learning curves of pairs that have one form);
* robust: discriminative models are more robust (outliers, rows far on the right side, labels flipped);
* overfitting: logistic regression resists overfitting, but not where the classes are separable;
* faster: discriminative models are faster (processor time of a fit and of a prediction, one thread).

The tables are those of `TABLES`, chosen before anything was run: every table that comes with this package or
with scikit-learn and has classes. Differences are paired, draw by draw, with Student's 95 % intervals.
`--only EXPERIMENT …` runs some of them anew and keeps what the file has of the others.
"""

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import datasets as sklearn_datasets
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis as TheirLDA
from sklearn.linear_model import LogisticRegression as TheirLogistic
from sklearn.naive_bayes import GaussianNB as TheirNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from benchmarks.machine import describe
from posterior import LearningCurve, LogisticRegression, Robustness, threads
from posterior.comparison.experiments import margin, scores_of, spread
from posterior.comparison.fixed_candidates import learning_curve_candidates
from posterior.comparison.nested import nested_split
from posterior.datasets import load_penguins, load_pokemon, load_voters
from posterior.estimators.table_estimator import rows_for
from posterior.schema import LabelledTable

OUTPUT = Path(__file__).parent / "results" / "claims.json"
STATS = ["hp", "attack", "defense", "sp_atk", "sp_def", "speed"]
GENERATIVE, DISCRIMINATIVE = ("tied-naive-bayes", "lda"), ("logistic", "ridge-logistic")
PAIRS = [(g, d) for g in GENERATIVE for d in DISCRIMINATIVE]
METRICS = ("log_loss", "error_rate")
REPEATS = 20
SIZES = (20, 40, 80, 160, 320)  # rows learnt from in the experiment on overfitting
ROUNDS = 15  # of timing, models taking turns
LARGE = (200_000, 20)


def penguin_sex() -> tuple[Any, Any]:
    known = load_penguins("pandas").frame.dropna(subset=["sex"])
    return known.drop(columns="sex"), known["sex"]


def water_or_normal() -> tuple[Any, Any]:
    pokemon = load_pokemon("pandas").frame
    two = pokemon[pokemon["type_1"].isin(["Water", "Normal"])]
    return two[STATS], two["type_1"]


def three_or_eight() -> tuple[Any, Any]:
    X, y = sklearn_datasets.load_digits(return_X_y=True)
    return X[np.isin(y, (3, 8))], y[np.isin(y, (3, 8))]


def bundled(load: Callable[..., Any]) -> Callable[[], tuple[Any, Any]]:
    return lambda: (load("pandas").X, load("pandas").y)


def of_sklearn(name: str) -> Callable[[], tuple[Any, Any]]:
    return lambda: getattr(sklearn_datasets, f"load_{name}")(return_X_y=True)


TABLES: dict[str, Callable[[], tuple[Any, Any]]] = {
    "penguins: species": bundled(load_penguins),
    "penguins: sex": penguin_sex,
    "Pokémon: legendary": lambda: tuple(load_pokemon("pandas").frame[c] for c in (STATS, "legendary")),
    "Pokémon: Water or Normal": water_or_normal,
    "voters": bundled(load_voters),
    "iris": of_sklearn("iris"),
    "wine": of_sklearn("wine"),
    "breast cancer": of_sklearn("breast_cancer"),
    "digits": of_sklearn("digits"),
    "digits: 3 or 8": three_or_eight,
}


def read(name: str) -> LabelledTable:
    X, y = TABLES[name]()
    return LabelledTable.of(X, np.asarray(y))


def interval(samples: np.ndarray) -> dict[str, Any]:
    """Mean and half of Student's 95 % interval over the last axis."""
    mean, error = spread(np.asarray(samples, dtype=float))
    return {"mean": rounded(mean), "half_width": rounded(margin(error, samples.shape[-1]))}


def rounded(values: Any) -> Any:
    """Five digits, as lists; None for what is not finite."""
    if np.ndim(values):
        return [rounded(v) for v in np.asarray(values)]
    return float(f"{values:.5g}") if np.isfinite(values) else None


# -- generative models need less data -------------------------------------------------------------


def less_data(name: str) -> dict[str, Any]:
    """Learning curves, and for each pair generative less discriminative at each size, and the crossover."""
    curves = LearningCurve.of(*TABLES[name](), repeats=REPEATS)
    there = {curve.name for curve in curves.curves}
    pairs = []
    for g, d in PAIRS:
        if {g, d} <= there:
            pairs += [
                {
                    "generative": g,
                    "discriminative": d,
                    "metric": metric,
                    **interval(curves._differences(g, d, metric)),
                    "crossover": crossing(curves, g, d, metric),
                }
                for metric in METRICS
            ]
    return {
        "sizes": list(curves.sizes),
        "test_rows": curves.n_test,
        "left_out": dict(curves.left_out),
        "curves": {c.name: {m: interval(c.repeated(m)) for m in METRICS} for c in curves.curves},
        "pairs": pairs,
    }


def crossing(curves: LearningCurve, g: str, d: str, metric: Any) -> dict[str, Any] | None:
    found = curves.crossover(g, d, metric)
    if found is None:
        return None
    return {"early": found.early, "late": found.late, "rows": rounded(found.rows), "is_clear": found.is_clear}


# -- discriminative models are more robust --------------------------------------------------------


def robust(name: str) -> dict[str, Any]:
    """By how much the losses of a generative model rise more than those of its discriminative partner."""
    found = Robustness.of(*TABLES[name](), outliers=0.1, flipped=0.2, few=None, repeats=REPEATS)
    names, out = list(found.names), []
    for c, corruption in enumerate(found.corruptions[1:], 1):
        for m, metric in enumerate(METRICS):
            rise = found.trials[c, ..., m] - found.trials[0, ..., m]
            for g, d in PAIRS:
                if g in names and d in names:
                    gap = rise[names.index(g)] - rise[names.index(d)]
                    out.append(
                        {
                            "corruption": str(corruption),
                            "generative": g,
                            "discriminative": d,
                            "metric": metric,
                            "rise": [rounded(rise[names.index(k)].mean()) for k in (g, d)],
                            **interval(gap),
                        }
                    )
    return {"train_rows": found.n_train, "left_out": dict(found.left_out), "pairs": out}


# -- overfitting and separation -------------------------------------------------------------------


def is_separated(rows: LabelledTable) -> bool:
    """Whether logistic regression by maximum likelihood has no finite optimum on these rows."""
    model = LogisticRegression(
        C=np.inf, missing="indicator", standardize=True, kinds=list(rows.pinned.items())
    )
    model.fit(rows_for(model, rows), rows.classes[rows.codes])
    return model.separation_ is not None


def overfitting(name: str) -> dict[str, Any]:
    """Log loss held out less that of the rows learnt from, by model, and whether these were separable."""
    rows = read(name)
    candidates = learning_curve_candidates(rows)[0]
    draws = []
    for repeat in range(REPEATS):
        order, test = nested_split(rows.codes, 0.3, np.random.default_rng([1, repeat]))
        for n in SIZES:
            if n > len(order) or n < 2 * len(rows.classes):
                continue
            train, held_out = rows.part(order[:n]), rows.part(test)
            losses = {}
            for candidate in candidates:
                model = candidate.fresh()
                model.fit(rows_for(model, train), train.classes[train.codes])
                losses[candidate.name] = rounded([scores_of(model, part)[0] for part in (train, held_out)])
            draws.append({"rows": n, "separable": is_separated(train), "losses": losses})
    return {"draws": draws}


# -- discriminative models are faster -------------------------------------------------------------


def faster(name: str) -> dict[str, Any]:
    """Processor seconds of a fit and of a prediction of all rows; models take turns, on one thread."""
    rows = large_table() if name == "generated" else read(name)
    models = {c.name: c.fresh() for c in learning_curve_candidates(rows)[0]}
    labels, y = rows.classes[rows.codes], rows.codes
    matrix = rows.values(tuple(range(len(rows.schema)))) if plain(rows) else None
    if matrix is not None:
        models |= {f"scikit-learn {k}": m for k, m in theirs().items()}
    seconds: dict[str, list[list[float]]] = {k: [] for k in models}
    with threads(1), threadpool_limits(1):
        for _ in range(ROUNDS):
            for k, model in models.items():
                X, labelled = (matrix, y) if k.startswith("scikit") else (rows_for(model, rows), labels)
                fresh = clone(model)
                start = time.process_time()
                fresh.fit(X, labelled)
                middle = time.process_time()
                fresh.predict_proba(X)
                seconds[k].append([middle - start, time.process_time() - middle])
    best = {k: np.min(s, axis=0) for k, s in seconds.items()}
    return {
        "rows": len(y),
        "fit": {k: rounded(s[0]) for k, s in best.items()},
        "predict": {k: rounded(s[1]) for k, s in best.items()},
        "rounds": {k: rounded(np.array(s)) for k, s in seconds.items()},
    }


def plain(rows: LabelledTable) -> bool:
    """Whether scikit-learn's models take the table as it is: numbers without gaps."""
    every = tuple(range(len(rows.schema)))
    return set(rows.where("continuous")) == set(every) and not np.isnan(rows.values(every)).any()


def theirs() -> dict[str, Any]:
    return {
        "naive-bayes": TheirNB(),
        "lda": TheirLDA(),
        "ridge-logistic": make_pipeline(StandardScaler(), TheirLogistic(max_iter=1000)),
    }


def large_table() -> LabelledTable:
    """Two Gaussian classes of many rows: the only table that is generated."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, LARGE[0])
    return LabelledTable.of(rng.normal(size=LARGE) + 0.3 * y[:, None], y)


EXPERIMENTS = {"less_data": less_data, "robust": robust, "overfitting": overfitting, "faster": faster}


def tables_of(experiment: str, wanted: Sequence[str] | None) -> Iterator[str]:
    names = [*TABLES, "generated"] if experiment == "faster" else list(TABLES)
    return (name for name in names if wanted is None or name in wanted)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=list(EXPERIMENTS), default=list(EXPERIMENTS))
    parser.add_argument("--tables", nargs="+", choices=[*TABLES, "generated"])
    parser.add_argument("--output", type=Path, default=OUTPUT)
    chosen = parser.parse_args(arguments)
    found = json.loads(chosen.output.read_text()) if chosen.output.exists() else {}
    found |= describe({}) | {"repeats": REPEATS, "command": "python -m benchmarks.claims"}
    for experiment in chosen.only:
        for name in tables_of(experiment, chosen.tables):
            start = time.perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # few rows, separated classes: that is what is measured
                found.setdefault(experiment, {})[name] = EXPERIMENTS[experiment](name)
            print(f"{experiment:12} {name:26} {time.perf_counter() - start:6.1f} s", flush=True)
            chosen.output.write_text(json.dumps(found, indent=None, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
