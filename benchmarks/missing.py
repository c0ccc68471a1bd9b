"""What gaps cost: naive Bayes that leaves them out, and EM for QDA."""

import numpy as np

import posterior
from benchmarks import data
from benchmarks.contest import Contender, alternate, largest_difference
from benchmarks.plan import Plan, heading, told
from benchmarks.tasks import plain_bayes

FEW_GAPS, MANY_GAPS = 0.05, 0.25
EM_ROWS = 50_000


def naive_bayes(plan: Plan) -> None:
    """Our naive Bayes with 5 % of the cells missing, beside its own time without."""
    n = plan.rows
    X, y = data.numbers(n, 20, 10)
    gaps = data.with_gaps(FEW_GAPS)(n, 20, 10)[0]
    whole, holes = (Contender("ours", plain_bayes, (table, y)) for table in (X, gaps))
    shares = whole.warm_up(plan.repeats)[1]
    model, gappy = holes.warm_up(plan.repeats)
    full_rows = ~np.isnan(gaps).any(axis=1)
    expected = model.predict_proba(X[full_rows])
    if largest_difference(gappy[full_rows], expected) > 1e-12:
        plan.fail("NaiveBayes: rows without gaps get other probabilities beside rows with gaps")
    del shares, gappy, expected
    alternate([whole, holes])
    a, b = whole.runs.row(), holes.runs.row()
    row = {
        "what": "NaiveBayes, 5 % missing",
        "n": n,
        "fit_s": b["fit_s"],
        "predict_s": b["predict_s"],
        "fit_times": b["fit_s"] / a["fit_s"],
        "predict_times": b["predict_s"] / a["predict_s"],
    }
    plan.results.setdefault("missing", []).append(row)
    print(
        f"NaiveBayes, {n:,} × 20, K=10, 5 % missing: fit {told(row['fit_s'])}, {row['fit_times']:.2f} × "
        f"without; predict {told(row['predict_s'])}, {row['predict_times']:.2f} ×",
        flush=True,
    )


def expectation(plan: Plan) -> None:
    """EM for QDA with a quarter of the cells missing, beside one fit of the same table without gaps."""
    n = EM_ROWS if not plan.quick else EM_ROWS // 5
    X, y = data.numbers(n, 20, 10)
    gaps = data.with_gaps(MANY_GAPS)(n, 20, 10)[0]
    full, em = (Contender("ours", posterior.QDA, (table, y)) for table in (X, gaps))
    full.warm_up(plan.repeats)
    model, _ = em.warm_up(plan.repeats)
    if not (np.diff(model.log_likelihood_path_) >= 0).all():
        plan.fail("EM: the log-likelihood fell")
    alternate([full, em])
    a, b = full.runs.row(), em.runs.row()
    row = {
        "what": "QDA by EM, 25 % missing",
        "n": n,
        "fit_s": b["fit_s"],
        "predict_s": b["predict_s"],
        "fit_times": b["fit_s"] / a["fit_s"],
        "predict_times": b["predict_s"] / a["predict_s"],
        "steps": int(model.n_iter_),
    }
    plan.results.setdefault("missing", []).append(row)
    print(
        f"QDA by EM, {n:,} × 20, K=10, 25 % missing: {told(row['fit_s'])} in {row['steps']} steps, "
        f"{row['fit_times']:.0f} × one fit of the full table ({told(a['fit_s'])})",
        flush=True,
    )


def gaps(plan: Plan) -> None:
    """Both."""
    heading("Missing values")
    naive_bayes(plan)
    expectation(plan)
