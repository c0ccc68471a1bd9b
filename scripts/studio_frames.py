"""Drag the controls of a studio page of 100,000 rows at every frame, and measure how the page follows.

    python scripts/studio_frames.py [--classes 2 3 10] [--seconds 3] [--json FILE]

Each control is moved by the events that a hand gives rise to, once a frame, and the page does all that it
does for a person. Printed are the milliseconds of script a frame in the page's own thread (the middle frame
and the slowest of twenty), the processor time of that thread (script, style, layout and painting), the frames
a second, of at most 60, how many of them showed new results, and how long after the control moved they did:
rows are worked out in a thread beside it, so that a result is shown one frame (17 ms) after the move at the
soonest, two where that thread was late. A frame counts only if it shows a result that no frame showed before;
results that are skipped because a newer one has come are not counted. It needs Chromium on the path.
"""

import argparse
import json
import math
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "support"))  # where the imports that follow it are found

from chromium import Chromium, installed  # noqa: E402
from posterior.studio import page_of  # noqa: E402
from studio_pages import large  # noqa: E402

# A control is given a value by `move(studio, share)`, share between 0.2 and 0.8, as a hand would by dragging.
FRAMES = """
(async (move, seconds) => {
  const { studio } = posteriorStudio, frame = () => new Promise(requestAnimationFrame);
  const each = [], delays = [];
  const plain = { follow: studio.follow, show: studio.show };
  let shown = 0;
  studio.follow = function () {
    const began = performance.now(), before = shown, moved = this.told?.moved ?? NaN;
    plain.follow.call(this);
    each.push(performance.now() - began);
    if (shown > before) delays.push(began - moved);
  };
  studio.show = function () { shown += 1; plain.show.call(this); };
  const began = performance.now();
  let n = 0;
  for (; performance.now() - began < 1000 * seconds; n++) {
    move(studio, 0.2 + 0.3 * (1 + Math.sin(n / 10)));
    await frame();
  }
  const spent = (performance.now() - began) / 1000, rate = n / spent, follows = shown / spent;
  delete studio.follow;
  delete studio.show;
  each.sort((a, b) => a - b);
  delays.sort((a, b) => a - b);
  const slow = each[Math.floor(0.95 * each.length)], delay = delays[delays.length >> 1] ?? null;
  return { n, rate, follows, middle: each[each.length >> 1], slow, delay };
})
"""
GIVEN = """
const given = (box, value) => { box.value = value; box.dispatchEvent(new Event('input')); };
"""
MOVES = {
    "class frequencies": "(s, share) => given(s.shares[0].range, 100 * share)",
    "a cost": "(s, share) => given(s.costTable.boxes[0][1], (10 * share).toFixed(2))",
    "a threshold": "(s, share) => given(s.levels.threshold.range, share)",
    "a capacity": "(s, share) => given(s.dayBoxes[0], Math.round(1000 * share))",
    "the outlier rate": "(s, share) => given(s.rate.range, 20 * share)",
    "frequencies, with outliers and a share": "(s, share) => given(s.shares[0].range, 100 * share)",
}
BEGINNINGS = {
    "a threshold": "studio.chooseRule('threshold')",
    "a capacity": "studio.chooseRule('capacity')",
    "the outlier rate": "studio.change({ outliers: 0.05 })",
    "frequencies, with outliers and a share": "studio.chooseRule('coverage'); "
    "studio.change({ outliers: 0.05 })",
}

KINDS = {
    "all": "TaskDuration",
    "script": "ScriptDuration",
    "style": "RecalcStyleDuration",
    "layout": "LayoutDuration",
}


def measured(browser: Chromium, what: str, seconds: float) -> dict[str, Any]:
    """Milliseconds and frames of one control."""
    browser.evaluate("posteriorStudio.studio.reset()")
    browser.evaluate(f"(({{ studio }}) => {{ {BEGINNINGS.get(what, '')} }})(posteriorStudio)")
    drag = f"(() => {{ {GIVEN} return {FRAMES.strip()}({MOVES[what]}, %s); }})()"
    browser.evaluate(drag % 1)  # the compiler's share is not counted
    before = processor_times(browser)
    told: dict[str, Any] = browser.evaluate(drag % seconds)
    after = processor_times(browser)
    return told | {name: 1000 * (after[name] - before[name]) / told["n"] for name in after}


def processor_times(browser: Chromium) -> dict[str, float]:
    """Seconds that the page's own thread has run for each kind of work."""
    found = {each["name"]: each["value"] for each in browser.call("Performance.getMetrics")["metrics"]}
    return {kind: float(found[name]) for kind, name in KINDS.items()}


def main() -> int:
    """Measure every control on pages of so many classes."""
    reader = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    reader.add_argument("--classes", type=int, nargs="+", default=[2, 3, 10])
    reader.add_argument("--rows", type=int, default=100_000)
    reader.add_argument("--seconds", type=float, default=3)
    reader.add_argument("--json", type=Path, help="write the figures here, too")
    asked = reader.parse_args()
    program = installed()
    if program is None:
        sys.exit("there is no Chromium on the path; install it, as by Debian's package `chromium`")
    figures = []
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        browser = Chromium(program, Path(folder) / "profile")
        for n_classes in asked.classes:
            page = Path(folder) / f"large-{n_classes}.html"
            page.write_text(page_of(large(asked.rows, n_classes)), encoding="utf-8")
            browser.open(page.resolve(), 1280, "light")
            browser.call("Performance.enable", timeDomain="threadTicks")
            rows = browser.evaluate("posteriorStudio.studio.rows.n")
            print(f"\n{rows:,} rows, {n_classes} classes, {page.stat().st_size / 1e6:.1f} MB")
            for what in MOVES:
                told = measured(browser, what, asked.seconds)
                delay = math.nan if told["delay"] is None else told["delay"]
                figures.append({"rows": rows, "classes": n_classes, "control": what, **told})
                print(
                    f"{what:40} update {told['middle']:5.1f} ms, slow ones {told['slow']:5.1f} ms; processor "
                    f"{told['all']:5.1f} ms a frame (script {told['script']:.1f}, style {told['style']:.1f}, "
                    f"layout {told['layout']:.1f}); {told['rate']:4.1f} frames a second, "
                    f"{told['follows']:4.1f} with new results, {delay:.0f} ms after the move"
                )
            browser.call("Page.close")
        browser.close()
    if asked.json is not None:
        asked.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
