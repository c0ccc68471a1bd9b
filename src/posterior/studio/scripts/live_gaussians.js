// Drag two or three Gaussians, and see densities, posterior and the exact boundary follow.
import { PosteriorBars } from "./charts.js";
import { classColour, element, oncePerFrame, shownNumber, slider } from "./elements.js";
import { axesOf, boundaryForm, boundaryPieces, conicType, covarianceOf, gaussianClass, posteriorAt, quadraticOf, valueAt } from "./gaussians.js";
import { LETTERS, Plane, coloursOf } from "./plane.js";

const GAUSSIANS_FRAME = [-5, 5, -5, 5];
// Places to begin: [centre, standard deviations along the axes, angle] of each class, and whether they share a covariance.
const GAUSSIAN_PRESETS = {
  "two ellipses": { classes: [[[-1.6, -0.6], 1.5, 0.8, 0.5], [[1.6, 0.8], 1.1, 0.7, -0.6]] },
  "one covariance: a line": { classes: [[[-1.6, -0.6], 1.5, 0.8, 0.5], [[1.6, 0.8], 1.5, 0.8, 0.5]], tied: true },
  "one inside the other: an ellipse": { classes: [[[0, 0], 0.7, 0.5, 0.3], [[0.3, 0.2], 2.2, 1.8, 0.3]] },
  "crossed: a hyperbola": { classes: [[[-0.4, 0], 2, 0.5, 0.8], [[0.6, 0.2], 1.8, 0.6, -0.8]] },
  "three classes": { classes: [[[-1.6, 0.6], 1.3, 0.8, 0.5], [[1.8, 1.2], 1.1, 0.7, -0.6], [[0.4, -2.4], 1.3, 0.6, 0.1]] },
};

export class LiveGaussians {
  constructor(host) {
    this.host = host;
    this.all = [
      gaussianClass([-1.6, -0.6], covarianceOf(1.5, 0.8, 0.5), 0.5),
      gaussianClass([1.6, 0.8], covarianceOf(1.1, 0.7, -0.6), 0.5),
      gaussianClass([0.4, -2.9], covarianceOf(1.3, 0.6, 0.1), 0.5),
    ];
    this.n = host.dataset.classes === "3" ? 3 : 2;
    this.tied = host.dataset.tied === "yes";
    this.probe = [0, 0];
    this.later = oncePerFrame(() => this.update());
    this.plane = new Plane(GAUSSIANS_FRAME, "Gaussian classes in a plane: drag a centre, the end of an axis, or the diamond where the posterior is read");
    this.words = element("p", { class: "said", "aria-live": "polite" });
    this.side = element("div", { class: "side" });
    this.node = element("div", { class: "live" }, this.plane.node, this.side);
    this.build();
  }

  /** The classes as they are: priors as shares, one covariance where that is asked for. */
  get classes() {
    const some = this.all.slice(0, this.n), total = some.reduce((sum, each) => sum + each.prior, 0);
    return some.map(each => ({ ...each, prior: each.prior / total, covariance: this.tied ? some[0].covariance : each.covariance }));
  }

  build() {
    const { plane } = this, change = () => this.later();
    plane.handles.replaceChildren();
    this.grips = [];
    const grip = options => { const made = plane.handle(options); this.grips.push(made); };
    for (let k = 0; k < this.n; k++) {
      const own = this.all[k], colour = classColour(k);
      grip({ at: () => own.mean, colour, move: to => { own.mean = to; change(); }, say: () => `centre of class ${LETTERS[k]}, at ${spot(own.mean)}; arrow keys move it` });
      if (this.tied && k > 0) continue;
      const end = which => {
        const { a, b, angle } = axesOf(own.covariance), length = which ? b : a, turn = angle + (which ? Math.PI / 2 : 0);
        return [own.mean[0] + length * Math.cos(turn), own.mean[1] + length * Math.sin(turn)];
      };
      const pull = which => to => {
        const dx = to[0] - own.mean[0], dy = to[1] - own.mean[1], length = Math.min(Math.max(Math.hypot(dx, dy), 0.25), 4);
        const { a, b } = axesOf(own.covariance), turn = Math.atan2(dy, dx) - (which ? Math.PI / 2 : 0);
        own.covariance = which ? covarianceOf(a, Math.min(length, a), turn) : covarianceOf(Math.max(length, b), b, turn);
        change();
      };
      for (const which of [0, 1]) {
        grip({ at: () => end(which), colour, small: true, move: pull(which), say: () => `${which ? "short" : "long"} axis of class ${LETTERS[k]}, standard deviation ${shownNumber(axesOf(own.covariance)[which ? "b" : "a"], 2)}; arrow keys move its end` });
      }
    }
    grip({ at: () => this.probe, shape: "diamond", colour: "var(--live-ink)", move: to => { this.probe = to; change(); }, say: () => `where the posterior is read, at ${spot(this.probe)}; arrow keys move it` });
    this.bars = new PosteriorBars(LETTERS.slice(0, this.n));
    const number = k => slider({ label: `how frequent ${LETTERS[k]} is`, low: 0.01, high: 1, step: 0.01, value: this.all[k].prior, change: value => { this.all[k].prior = value; change(); } }).node;
    const price = k => slider({ label: `what missing ${LETTERS[k]} costs`, low: 0.1, high: 10, step: 0.1, value: this.all[k].cost, change: value => { this.all[k].cost = value; change(); } }).node;
    const each = make => Array.from({ length: this.n }, (_, k) => make(k));
    const tied = element("input", { type: "checkbox", checked: this.tied, onchange: event => { this.tied = event.target.checked; this.build(); } });
    const preset = element("select", { "aria-label": "classes to begin with", onchange: event => this.begin(event.target.value) },
      element("option", { value: "" }, "begin with …"), Object.keys(GAUSSIAN_PRESETS).map(name => element("option", { value: name, selected: name === this.preset }, name)));
    const three = element("input", { type: "checkbox", checked: this.n === 3, onchange: event => { this.n = event.target.checked ? 3 : 2; this.build(); } });
    this.side.replaceChildren(this.words, element("p", { class: "ticks" }, preset), element("p", { class: "aside" }, "Drag a large dot to move a class, a small one to stretch or turn it, the diamond to read the posterior there; or reach them with Tab and move them with the arrow keys. Posterior at the diamond:"), this.bars.node, ...each(number), ...each(price),
      element("p", { class: "ticks" }, element("label", null, tied, " one covariance for all (LDA)"), element("label", null, three, " a third class")));
    this.update();
  }

  /** Classes of a preset; priors and costs even again. */
  begin(name) {
    const given = GAUSSIAN_PRESETS[name];
    if (!given) return;
    this.preset = name;
    given.classes.forEach(([mean, a, b, angle], k) => { this.all[k] = gaussianClass(mean.slice(), covarianceOf(a, b, angle), 0.5); });
    this.n = given.classes.length;
    this.tied = given.tied ?? false;
    this.build();
  }

  /** Again, in other colours. */
  repaint() {
    this.update();
  }

  /** Everything again for the classes as they are. */
  update() {
    const { plane } = this, classes = this.classes, forms = classes.map(quadraticOf);
    const costly = forms.map((form, k) => ({ ...form, a: form.a + Math.log(classes[k].cost) }));
    const colours = coloursOf(this.host, classes.map((_, k) => `--class-${k}`));
    const level = Math.max(...classes.map((each, k) => valueAt(forms[k], each.mean)));
    plane.shade(x => {
      const values = forms.map(form => valueAt(form, x)), p = posteriorAt(forms, x);
      const dense = Math.exp(0.35 * (Math.max(...values) - level));
      return [0, 1, 2].map(c => p.reduce((sum, share, k) => sum + share * colours[k][c], 0)).concat(0.12 + 0.5 * Math.min(dense, 1));
    });
    const lines = [];
    classes.forEach((each, k) => {
      const axes = axesOf(each.covariance);
      for (const times of [1, 2]) lines.push(plane.ellipse(each.mean, axes, times, { stroke: classColour(k), "stroke-width": times === 1 ? 2 : 1.2 }));
    });
    this.boundaries = [];
    const told = [];
    for (let a = 0; a < classes.length; a++) {
      for (let b = a + 1; b < classes.length; b++) {
        const form = boundaryForm(classes[a], classes[b]), type = conicType(form);
        const wins = x => { const best = Math.max(...costly.map(f => valueAt(f, x))); return Math.max(valueAt(costly[a], x), valueAt(costly[b], x)) >= best - 1e-9; };
        this.boundaries.push({ pair: [a, b], form, type });
        told.push(`${LETTERS[a]} against ${LETTERS[b]}: ${type}`);
        lines.push(plane.pieces(boundaryPieces(form, plane.frame, wins), { class: "boundary" }));
      }
    }
    plane.lines.replaceChildren(...lines);
    for (const grip of this.grips) grip.place();
    this.posterior = posteriorAt(forms, this.probe);
    this.bars.set(this.posterior);
    this.words.textContent = `The boundary where ${classes.some(each => each.cost !== 1) ? "expected costs" : "posteriors"} are equal. ${told.join("; ")}.`;
  }
}

function spot([x, y]) {
  return `${shownNumber(x, 1)}, ${shownNumber(y, 1)}`;
}
