"""A hump of a class density that the posterior never sees (after Bishop, 2006, section 1.5.4).

Class "a" has two humps, one of them far on its own side; class "b" has one. Taking the far hump away changes
the density of "a" everywhere and the posteriors nowhere. `python examples/far_mode.py [figure.svg]`.
"""

import sys
import warnings
from pathlib import Path

import numpy as np

from posterior import GenerativeClassifier
from posterior.families import MixtureOfNormals, MixtureOfNormalsDistribution

FAR, NEAR, OTHER = 1.0, 4.5, 6.7  # the humps of "a", and "b"
VARIANCE = [[0.36]]
SHARE = 0.4  # of the rows of "a" that are in the far hump
CUT = (FAR + NEAR) / 2
LINE = np.linspace(-3.0, 11.0, 1401)[:, None]
BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#555555"  # Okabe & Ito: told apart by everyone


def with_far_mode():
    """Half the rows are "a", two fifths of them in the far hump."""
    density = MixtureOfNormalsDistribution(
        weight=[SHARE, 1 - SHARE, 1.0],
        mean=[[FAR], [NEAR], [OTHER]],
        covariance=VARIANCE,
        owner=[0, 0, 1],
    )
    return GenerativeClassifier.from_distributions(["a", "b"], [0.5, 0.5], [("x", density)])


def without_far_mode():
    """The same population after the rows of the far hump have left: fewer rows of "a", in one hump."""
    density = MixtureOfNormalsDistribution(
        weight=[1.0, 1.0], mean=[[NEAR], [OTHER]], covariance=VARIANCE, owner=[0, 1]
    )
    left = np.array([0.5 * (1 - SHARE), 0.5])
    return GenerativeClassifier.from_distributions(["a", "b"], left / left.sum(), [("x", density)])


def from_data(n=20_000, seed=0):
    """Models fitted to sampled rows: two humps; one, without the far rows; one for all the same."""
    table, y = with_far_mode().sample(n, random_state=seed)
    X = np.asarray(table)
    far = (y == "a") & (X[:, 0] < CUT)
    one, two = ([(0, MixtureOfNormals(m))] for m in (1, 2))
    return (
        GenerativeClassifier(two).fit(X, y),
        GenerativeClassifier(one).fit(X[~far], y[~far]),
        GenerativeClassifier(one).fit(X, y),
    )


def difference(one, other):
    """The largest difference of the densities of "a" and of its posteriors, along the line."""
    density = np.abs(densities(one) - densities(other))[:, 0].max()
    posterior = np.abs(one.predict_proba(LINE) - other.predict_proba(LINE))[:, 0].max()
    return float(density), float(posterior)


def densities(model):
    """Density of every class along the line, (n, 2)."""
    return np.exp(model.class_log_density(LINE))


def report():
    """Print what the far hump does to the densities and to the posteriors."""
    whole, part = with_far_mode(), without_far_mode()
    x = np.array([FAR, CUT, NEAR, 5.0, 5.5, 6.0, OTHER])
    dense = [np.exp(m.class_log_density(x[:, None]))[:, 0] for m in (whole, part)]
    proba = [m.predict_proba(x[:, None])[:, 0] for m in (whole, part)]
    print(f"{'':8}{'p(x | a), far hump':^24}{'p(a | x), far hump':^24}")
    print(f"{'x':>6}  {'with':>12}{'without':>12}{'with':>12}{'without':>12}")
    for row in zip(x, *dense, *proba, strict=True):
        print(f"{row[0]:6.2f}  {row[1]:12.2g}{row[2]:12.2g}{row[3]:12.6f}{row[4]:12.6f}")
    print("\nlargest difference along the line      density of a   posterior of a")
    two, near, blurred = from_data()
    for name, pair in (
        ("known, with and without the hump", (whole, part)),
        ("fitted, with and without its rows", (two, near)),
        ("fitted, one normal for both humps", (two, blurred)),
    ):
        density, posterior = difference(*pair)
        print(f"{name:<38}{density:13.3f}{posterior:17.1e}")


def draw(path=None):
    """The two panels: densities on the left, posteriors on the right."""
    import matplotlib  # noqa: PLC0415  (drawn only where it is installed)
    from matplotlib.figure import Figure  # noqa: PLC0415

    whole, part = with_far_mode(), without_far_mode()
    style = {
        "svg.hashsalt": "far_mode",
        "font.size": 10,
        "axes.spines.top": False,
        "axes.spines.right": False,
    }
    with matplotlib.rc_context(style):
        figure = Figure(figsize=(9.6, 3.7), layout="constrained")
        left, right = figure.subplots(1, 2, sharex=True)
        draw_densities(left, whole, part)
        draw_posteriors(right, whole, part)
        for axes in (left, right):
            axes.set_xlabel("x")
            axes.set_xlim(-1.2, 9.2)
            axes.grid(color="#dddddd", linewidth=0.6)
            axes.set_axisbelow(True)
        if path is not None:
            figure.savefig(path, metadata={"Date": None} if str(path).endswith(".svg") else None)
    return figure


def draw_densities(axes, whole, part):
    """Class densities, that of "a" with the far hump and without."""
    a, b = densities(whole).T
    axes.plot(LINE, a, color=BLUE, linewidth=2)
    axes.plot(LINE, densities(part)[:, 0], color=BLUE, linewidth=1.5, linestyle=(0, (4, 2)))
    axes.plot(LINE, b, color=ORANGE, linewidth=2)
    axes.set_ylim(0, 0.8)
    axes.set_ylabel("density p(x | class)")
    axes.set_title("Densities, with and without the far hump", fontsize=10.5, loc="left")
    axes.text(FAR, 0.285, "far hump of class a", color=BLUE, ha="center")
    axes.text(NEAR - 0.75, 0.34, "class a", color=BLUE, ha="right")
    axes.text(NEAR - 0.5, 0.60, "class a without\nits far hump", color=BLUE, ha="right", va="center")
    axes.text(OTHER, 0.69, "class b", color=ORANGE, ha="center")


def draw_posteriors(axes, whole, part):
    """Posteriors of both models, one drawn over the other, and where the decision changes."""
    solid, dashed = whole.predict_proba(LINE), part.predict_proba(LINE)
    for k, colour in enumerate((BLUE, ORANGE)):
        axes.plot(LINE, solid[:, k], color=colour, linewidth=2.6, alpha=0.45)
        axes.plot(LINE, dashed[:, k], color=colour, linewidth=1.5, linestyle=(0, (4, 2)))
    change = float(LINE[np.argmax(solid[:, 1] > solid[:, 0]), 0])
    axes.axvline(change, color=GREY, linewidth=1, linestyle=":")
    axes.set_ylim(0, 1.12)
    axes.set_ylabel("posterior p(class | x)")
    axes.set_title("Posteriors, with (bands) and without (dashes)", fontsize=10.5, loc="left")
    axes.text(1.0, 1.03, "class a", color=BLUE, ha="center")
    axes.text(8.0, 1.03, "class b", color=ORANGE, ha="center")
    digit, power = f"{difference(whole, part)[1]:.0e}".split("e")
    told = rf"they differ by ${digit} \times 10^{{{int(power)}}}$" + "\nat most"
    axes.text(change - 0.3, 0.5, told, color=GREY, ha="right", va="center")


def main(path):
    """Print the table; draw where matplotlib is installed."""
    report()
    try:
        draw(path)
    except ImportError:
        print("\nno figure: matplotlib is not installed")
    else:
        print(f"\ndrawn: {path}")


if __name__ == "__main__":
    warnings.simplefilter("error")
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("far_mode.svg"))
