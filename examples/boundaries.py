"""Three pictures of linear boundaries, each from fitted models and their own records.

Least squares is dragged by points far on the right side and logistic regression is not (after Bishop, 2006,
section 4.1.3); gradient descent creeps along a valley that Newton's method leaps down; LDA and logistic
regression draw the same kind of line with other coefficients. `python examples/boundaries.py [figure.png]`.
"""

import sys
import warnings
from pathlib import Path

import numpy as np

from posterior import LDA, LeastSquaresClassifier, LogisticRegression
from posterior.datasets import load_penguins
from posterior.linear import GradientDescent, Newton

BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#555555"  # Okabe & Ito: told apart by everyone
BILLS = ["bill_length_mm", "bill_depth_mm"]
SIZES = ["flipper_length_mm", "body_mass_g"]


def clouds(far, seed=2):
    """Two clouds that a level line tells apart, and perhaps twelve points of "b" far on its own side."""
    rng = np.random.default_rng(seed)
    a, b = (rng.normal([0.0, height], [2.0, 0.5], size=(40, 2)) for height in (1.5, -1.5))
    gone = rng.normal([10.0, -9.0], 0.6, size=(12 if far else 0, 2))
    return np.vstack([a, b, gone]), np.array(["a"] * len(a) + ["b"] * (len(b) + len(gone)))


def lines(far):
    """Least squares and logistic regression, fitted to the same points."""
    X, y = clouds(far)
    return LeastSquaresClassifier().fit(X, y), LogisticRegression().fit(X, y)


def errors(model, far):
    """How many training points lie on the wrong side."""
    X, y = clouds(far)
    return int((model.predict(X) != y).sum())


def adelies():
    """Flipper and mass of the Adelie penguins, standardised, and their sex."""
    table = load_penguins(backend="pandas").frame.dropna()
    table = table[table["species"] == "Adelie"]
    return (table[SIZES] - table[SIZES].mean()) / table[SIZES].std(), table["sex"]


def descents():
    """Every coefficient vector on the way of two solvers, and the objective they came down."""
    X, y = adelies()
    found = {}
    for solver in (GradientDescent(path=True), Newton(path=True, stages=False, reuse=0)):
        model = LogisticRegression(C=np.inf, fit_intercept=False, solver=solver).fit(X, y)
        objective = model.fit_.objective
        # A path is in the coordinates of its solver, and Newton's are whitened: `shown` turns them back.
        found[type(solver).__name__] = np.array(
            [objective.shown(s.theta)[0][0] for s in model.solution_.path]
        )
    return found, objective


def surface(objective, across, up):
    """The objective over a grid of two coefficients."""
    level = np.zeros(1)
    return np.array(
        [[objective.slope(objective.theta(np.array([[a, b]]), level)).value for a in across] for b in up]
    )


def bills():
    """LDA and logistic regression on the bills of two species."""
    table = load_penguins(backend="pandas").frame.dropna()
    table = table[table["species"].isin(["Adelie", "Chinstrap"])]
    X, y = table[BILLS], table["species"]
    return LDA().fit(X, y), LogisticRegression(C=np.inf).fit(X, y), X, y


def report():
    """Print the numbers behind the pictures."""
    print(f"{'points on the wrong side':<34}{'least squares':>15}{'logistic':>10}")
    for far, name in ((False, "two clouds"), (True, "and twelve points far off")):
        print(f"{name:<34}{errors(lines(far)[0], far):>15}{errors(lines(far)[1], far):>10}")
    print("\nsteps from zero to the same optimum")
    for name, path in descents()[0].items():
        print(f"{name:<34}{len(path) - 1:>15}   ends at ({path[-1, 0]:.4f}, {path[-1, 1]:.4f})")
    lda, logistic, X, y = bills()
    print(
        f"\n{'log odds of Chinstrap':<23}{'intercept':>11}{'bill length':>13}{'bill depth':>12}{'right':>8}"
    )
    for name, model in (("LDA", lda), ("logistic regression", logistic)):
        figures = [model.intercept_[0], *model.coef_[0]]
        print(f"{name:<23}{figures[0]:>11.2f}{figures[1]:>13.3f}{figures[2]:>12.3f}{model.score(X, y):>8.3f}")


def draw(path=None):
    """Four panels: least squares twice, the descents, and the penguins' bills."""
    import matplotlib  # noqa: PLC0415  (drawn only where it is installed)
    from matplotlib.figure import Figure  # noqa: PLC0415

    style = {
        "svg.hashsalt": "boundaries",
        "font.size": 10,
        "axes.spines.top": False,
        "axes.spines.right": False,
    }
    with matplotlib.rc_context(style):
        figure = Figure(figsize=(10.4, 8.6), layout="constrained")
        panels = figure.subplots(2, 2)
        draw_clouds(panels[0, 0], far=False)
        draw_clouds(panels[0, 1], far=True)
        draw_descents(panels[1, 0])
        draw_bills(panels[1, 1])
        if path is not None:
            figure.savefig(path, dpi=110, metadata={"Date": None} if str(path).endswith(".svg") else None)
    return figure


def boundary(axes, model, colour, dashed=False):
    """The line where two classes are equally good, across the panel as it is."""
    across, up = axes.get_xlim(), axes.get_ylim()
    corners = np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)  # a linear score needs no more
    if hasattr(model, "feature_names_in_"):
        import pandas as pd  # noqa: PLC0415  (the bundled table came as one of its frames)

        corners = pd.DataFrame(corners, columns=model.feature_names_in_)
    score = model.decision_function(corners).reshape(2, 2)
    axes.contour(
        across, up, score, levels=[0.0], colors=colour, linewidths=2, linestyles="--" if dashed else "-"
    )


def draw_clouds(axes, far):
    """The two clouds with the lines of least squares and of logistic regression."""
    X, y = clouds(far)
    axes.set_xlim(-6, 12)
    axes.set_ylim(-11, 4)
    for label, colour, marker in (("a", BLUE, "o"), ("b", ORANGE, "s")):
        axes.scatter(*X[y == label].T, s=16, color=colour, marker=marker, alpha=0.7, linewidths=0)
    squares, logistic = lines(far)
    wrong = squares.predict(X) != y
    axes.scatter(*X[wrong].T, s=70, facecolors="none", edgecolors="black", linewidths=1)
    boundary(axes, squares, GREY, dashed=True)
    boundary(axes, logistic, GREEN)
    axes.text(6.0, 1.5, "class a", color=BLUE, va="center")
    axes.text(-5.5, -3.2, "class b", color=ORANGE, va="center")
    told = (
        f"least squares (dashed): {wrong.sum()} points\non the wrong side, circled"
        if far
        else "least squares (dashed)"
    )
    axes.text(-5.5, -7.0, told, color=GREY, va="center")
    axes.text(-5.5, -9.0, "logistic regression (solid)", color=GREEN, va="center")
    title = "Twelve points of b far on its own side" if far else "Least squares and logistic regression agree"
    axes.set_title(title, fontsize=10.5, loc="left")


def draw_descents(axes):
    """The error surface, and what two solvers recorded on their way down."""
    paths, objective = descents()
    across, up = np.linspace(-1.6, 2.4, 49), np.linspace(-0.3, 4.6, 49)
    height = surface(objective, across, up)
    levels = height.min() + np.geomspace(0.0005, 0.6, 14)
    axes.contour(across, up, height, levels=levels, colors="#bbbbbb", linewidths=0.7)
    slow, quick = paths["GradientDescent"], paths["Newton"]
    axes.plot(*slow.T, color=ORANGE, linewidth=1, marker=".", markersize=4)
    axes.plot(*quick.T, color=BLUE, linewidth=1.6, marker="o", markersize=5)
    axes.plot(*quick[-1], color="black", marker="*", markersize=12)
    axes.text(0.95, 1.05, f"gradient descent:\n{len(slow) - 1} steps", color=ORANGE, va="center")
    axes.text(-1.5, 1.7, f"Newton:\n{len(quick) - 1} steps", color=BLUE, va="center")
    axes.set_xlabel("coefficient of flipper length")
    axes.set_ylabel("coefficient of body mass")
    axes.set_title("Sex of Adelie penguins: two ways down one surface", fontsize=10.5, loc="left")


def draw_bills(axes):
    """Bills of two species with the lines of LDA and of logistic regression, and their coefficients."""
    lda, logistic, X, y = bills()
    for label, colour, marker in (("Adelie", BLUE, "o"), ("Chinstrap", ORANGE, "s")):
        axes.scatter(*X[y == label].to_numpy().T, s=16, color=colour, marker=marker, alpha=0.7, linewidths=0)
    axes.set_xlim(31, 63)
    axes.set_ylim(14.5, 22.5)
    boundary(axes, lda, GREY, dashed=True)
    boundary(axes, logistic, GREEN)
    axes.text(32, 16.2, "Adelie", color=BLUE)
    axes.text(53, 20.9, "Chinstrap", color=ORANGE)
    for row, (name, model, colour) in enumerate((("LDA", lda, GREY), ("logistic", logistic, GREEN))):
        (w1, w2), b = model.coef_[0], model.intercept_[0]
        kind = "dashed" if name == "LDA" else "solid"
        told = f"{name} ({kind}):  {w1:.2f} length − {-w2:.2f} depth = {-b:.1f}"
        axes.text(62.8, 15.4 - 0.45 * row, told, color=colour, fontsize=8, ha="right")
    axes.set_xlabel("bill length in mm")
    axes.set_ylabel("bill depth in mm")
    axes.set_title("LDA and logistic regression: one form, two estimates", fontsize=10.5, loc="left")


def main(path):
    """Print the numbers; draw where matplotlib is installed."""
    report()
    try:
        draw(path)
    except ImportError:
        print("\nno figure: matplotlib is not installed")
    else:
        print(f"\ndrawn: {path}")


if __name__ == "__main__":
    warnings.simplefilter("error")
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("boundaries.png"))
