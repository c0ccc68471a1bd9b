// A learning rate on a slider: the path of gradient descent over the loss of a logistic model, beside Newton's.
import { descentPath, largestCurvature, meanLoss, newtonPath, slopesAt } from "./descent.js";
import { drawn, element, oncePerFrame, shownNumber, slider } from "./elements.js";
import { Plane, coloursOf } from "./plane.js";

const DESCENT_FRAME = [-4, 4, -1.5, 6.5];
// One feature, two classes that overlap: a finite optimum, and a long valley.
export const DESCENT_ROWS = [[-2.2, 0], [-1.7, 0], [-1.1, 0], [-0.9, 1], [-0.6, 0], [-0.2, 0], [0.1, 1], [0.4, 0], [0.7, 1], [1.2, 1], [1.5, 1], [2.4, 1]];
const MOST_STEPS = 300;
const RATES = [[0.3, "creeps"], [4, "arrives"], [13, "zigzags"], [20, "never settles"]];

export class LiveDescent {
  constructor(host) {
    this.host = host;
    this.rows = DESCENT_ROWS;
    this.start = [-2.2, 0.2];
    this.rate = 2;
    this.steps = 40;
    this.later = oncePerFrame(() => this.update());
    this.plane = new Plane(DESCENT_FRAME, "the mean log loss of a logistic model by intercept and slope, with the paths of gradient descent and Newton's method", "intercept", "slope");
    this.plane.handle({ at: () => this.start, colour: "var(--live-ink)", shape: "diamond", move: to => { this.start = to; this.later(); this.place(); },
      say: () => `where both begin, intercept ${shownNumber(this.start[0], 1)}, slope ${shownNumber(this.start[1], 1)}; arrow keys move it` });
    this.words = element("p", { class: "said", "aria-live": "polite" });
    const scale = 100; // the slider is logarithmic
    const rate = slider({ label: "learning rate", low: 0.05, high: 40, step: 0.05, value: this.rate, change: value => { this.rate = value; this.later(); } });
    rate.range.min = Math.log(0.05) * scale;
    rate.range.max = Math.log(40) * scale;
    rate.range.step = 1;
    rate.range.value = Math.log(this.rate) * scale;
    const track = rate.range.cloneNode();
    rate.range.replaceWith(track);
    track.addEventListener("input", () => { this.rate = Number(Math.exp(track.valueAsNumber / scale).toPrecision(3)); rate.box.value = this.rate; this.later(); });
    rate.box.addEventListener("input", () => { if (rate.box.valueAsNumber > 0) track.value = Math.log(rate.box.valueAsNumber) * scale; });
    this.stepsSlider = slider({ label: "steps", low: 0, high: MOST_STEPS, step: 1, value: this.steps, change: value => { this.pause(); this.steps = Math.round(value); this.later(); } });
    const setRate = value => { this.rate = value; rate.box.value = value; track.value = Math.log(value) * scale; this.later(); };
    this.player = element("button", { type: "button", onclick: () => (this.playing ? this.pause() : this.play()) }, "▶ Play");
    const buttons = element("p", { class: "ticks" }, this.player,
      element("button", { type: "button", onclick: () => { this.pause(); this.stepOn(); } }, "One step"),
      element("button", { type: "button", onclick: () => { this.pause(); this.steps = 0; this.later(); } }, "Back to the start"));
    const rates = element("p", { class: "ticks" }, "Try a rate: ", RATES.map(([value, words]) => element("button", { type: "button", onclick: () => setRate(value) }, `${value}, ${words}`)));
    this.table = element("tbody");
    this.node = element("div", { class: "live" }, this.plane.node, element("div", { class: "side" }, this.words, buttons, rate.node, rates, this.stepsSlider.node,
      element("table", { class: "fits" }, element("thead", null, element("tr", null, ["", "steps", "intercept", "slope", "mean log loss"].map(head => element("th", { scope: "col" }, head)))), this.table),
      element("p", { class: "aside" }, "Drag the diamond to begin elsewhere. Newton’s whole steps can overshoot far from the bottom; gradient descent settles only where its rate is below two over the largest curvature there.")));
    this.shadeOnce();
    this.update();
  }

  /** One step more of gradient descent; false where there is none left. */
  stepOn() {
    if (this.steps >= MOST_STEPS) return false;
    this.steps += 1;
    this.later();
    return true;
  }

  /** A step every tenth of a second, from the start if the last one was reached; until somebody pauses. */
  play() {
    if (this.steps >= MOST_STEPS) this.steps = 0;
    this.player.textContent = "⏸ Pause";
    this.words.setAttribute("aria-live", "off"); // ten sentences a second are for nobody's ears
    this.playing = setInterval(() => { if (!this.stepOn()) this.pause(); }, 100);
  }

  pause() {
    clearInterval(this.playing);
    this.playing = null;
    this.player.textContent = "▶ Play";
    this.words.setAttribute("aria-live", "polite");
  }

  place() {
    for (const child of this.plane.handles.children) {
      const [x, y] = this.plane.at(this.start);
      child.setAttribute("transform", `translate(${x} ${y})`);
    }
  }

  /** Bands of equal loss: the plane does not change, only the paths do. */
  shadeOnce() {
    const [ink] = coloursOf(this.host, ["--class-0"]), bottom = newtonPath(DESCENT_ROWS, [0, 0]).at(-1);
    const low = meanLoss(DESCENT_ROWS, bottom);
    this.bottom = bottom;
    this.plane.shade(point => {
      const band = Math.floor(3 * Math.log2(1 + 20 * (meanLoss(DESCENT_ROWS, point) - low)));
      return [...ink, Math.min(0.05 + 0.035 * band, 0.75)];
    });
  }

  /** Again, in other colours. */
  repaint() {
    this.shadeOnce();
  }

  update() {
    const { plane } = this;
    this.stepsSlider.set(this.steps);
    this.descent = descentPath(DESCENT_ROWS, this.start, this.rate, this.steps);
    this.newton = newtonPath(DESCENT_ROWS, this.start);
    const shown = path => path.filter(point => point.every(value => Math.abs(value) < 1e3));
    const dots = (path, kind) => shown(path).map(point => { const [x, y] = plane.at(point); return drawn("circle", { class: kind, cx: x, cy: y, r: 2.6 }); });
    const [bx, by] = plane.at(this.bottom);
    plane.lines.replaceChildren(
      plane.path(shown(this.descent), { class: "walk descent" }), ...dots(this.descent, "descent"),
      plane.path(shown(this.newton), { class: "walk newton", "stroke-dasharray": "6 4" }), ...dots(this.newton, "newton"),
      drawn("path", { class: "bottom", d: `M${bx - 6} ${by - 6}L${bx + 6} ${by + 6}M${bx + 6} ${by - 6}L${bx - 6} ${by + 6}` }));
    const line = (name, path, kind) => {
      const end = path.at(-1), loss = meanLoss(DESCENT_ROWS, end);
      return element("tr", { class: kind }, element("th", { scope: "row" }, name), element("td", null, String(path.length - 1)), ...[end[0], end[1], loss].map(value => element("td", null, shownNumber(value, 4))));
    };
    this.table.replaceChildren(line("descent", this.descent, "descent"), line("Newton", this.newton, "newton"));
    const most = 2 / largestCurvature(slopesAt(DESCENT_ROWS, this.bottom).H), apart = Math.hypot(...this.descent.at(-1).map((value, i) => value - this.bottom[i]));
    const lost = Math.hypot(...this.newton.at(-1).map((value, i) => value - this.bottom[i])) > 1e-6;
    this.words.textContent = (this.rate > most ? `At rates above ${shownNumber(most, 1)} gradient descent cannot settle at the bottom.`
      : apart < 0.01 ? "Gradient descent has arrived." : `After ${this.descent.length - 1} steps gradient descent is ${shownNumber(apart, 2)} from the bottom.`)
      + (lost ? " From this start Newton’s whole steps fly apart: a solver halves them." : ` Newton’s method took ${this.newton.length - 1} steps.`);
  }
}
