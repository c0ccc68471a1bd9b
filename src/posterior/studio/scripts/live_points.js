// Click to add points, and watch LDA, QDA, naive Bayes and logistic regression refit.
import { classColour, drawn, element, oncePerFrame, shownNumber } from "./elements.js";
import { boundaryPieces, posteriorAt, quadraticOf, valueAt } from "./gaussians.js";
import { LETTERS, Plane, coloursOf } from "./plane.js";
import { fitGaussians, fitLogistic, linearForms } from "./refit.js";

const POINTS_FRAME = [-4, 4, -4, 4];
const KINDS = [["lda", "LDA", "solid"], ["qda", "QDA", "8 4"], ["naive", "naive Bayes", "2 3"], ["logistic", "logistic", "12 3 2 3"]];

export class LivePoints {
  constructor(host) {
    this.host = host;
    this.next = 0;
    this.shown = new Set(["lda", "qda", "naive", "logistic"]);
    this.shading = "lda";
    this.points = pointsOf("two that overlap");
    this.later = oncePerFrame(() => this.update());
    this.plane = new Plane(POINTS_FRAME, "points of classes in a plane: click adds one, drag moves one, Delete removes it");
    this.plane.svg.addEventListener("click", event => this.add(this.plane.inside(this.plane.pointOf(event))));
    this.words = element("p", { class: "said", "aria-live": "polite" });
    this.table = element("tbody");
    const chooser = element("p", { class: "ticks", role: "radiogroup", "aria-label": "class of the next point" }, "A click adds ", LETTERS.map((name, k) => element("label", null,
      element("input", { type: "radio", name: "live-next", checked: k === 0, onchange: () => { this.next = k; } }), pointSwatch(k), name)));
    const models = element("fieldset", null, element("legend", null, "boundaries of"), KINDS.map(([kind, name, dash]) => element("label", null,
      element("input", { type: "checkbox", checked: true, onchange: event => { this.shown[event.target.checked ? "add" : "delete"](kind); this.later(); } }), ` ${name} `, dashKey(dash))));
    const shade = element("select", { "aria-label": "whose posterior is shaded", onchange: event => { this.shading = event.target.value; this.later(); } }, KINDS.map(([kind, name]) => element("option", { value: kind }, name)));
    const buttons = element("p", { class: "ticks" },
      element("button", { type: "button", onclick: () => this.add([0, 0]) }, "Add a point in the middle"),
      element("button", { type: "button", onclick: () => { this.points.pop(); this.rebuild(); } }, "Take the last one away"),
      element("label", null, "begin with ", element("select", { onchange: event => this.begin(event.target.value) }, Object.keys(POINT_PRESETS).map(name => element("option", { value: name }, name)))));
    this.node = element("div", { class: "live" }, this.plane.node, element("div", { class: "side" }, this.words, chooser, models,
      element("p", { class: "ticks" }, element("label", null, "shaded: ", shade)),
      element("table", { class: "fits" }, element("thead", null, element("tr", null, ["model", "right", "log loss"].map(head => element("th", { scope: "col" }, head)))), this.table), buttons));
    this.rebuild();
  }

  begin(name) {
    this.points = pointsOf(name);
    this.rebuild();
  }

  add(x) {
    this.points.push({ x, k: this.next });
    this.rebuild();
  }

  rebuild() {
    this.plane.handles.replaceChildren();
    this.grips = this.points.map(point => this.plane.handle({
      at: () => point.x, colour: classColour(point.k), small: true, move: to => { point.x = to; this.later(); },
      remove: () => { this.points.splice(this.points.indexOf(point), 1); this.rebuild(); },
      say: () => `a point of class ${LETTERS[point.k]} at ${shownNumber(point.x[0], 1)}, ${shownNumber(point.x[1], 1)}; arrow keys move it, Delete removes it`,
    }));
    this.update();
  }

  /** The classes that have points, numbered anew for the models. */
  numbered() {
    const seen = [0, 1, 2].filter(k => this.points.some(point => point.k === k));
    return { seen, points: this.points.map(({ x, k }) => ({ x, k: seen.indexOf(k) })) };
  }

  /** The score functions of each model, null where the points do not determine it. */
  fit() {
    const { seen, points } = this.numbered(), K = seen.length, fits = {};
    for (const [kind] of KINDS) {
      if (K < 2) { fits[kind] = null; continue; }
      if (kind === "logistic") { fits[kind] = linearForms(fitLogistic(points, K)); continue; }
      const classes = fitGaussians(points, K, kind);
      try { fits[kind] = classes && classes.map(quadraticOf); } catch { fits[kind] = null; } // points on one line
    }
    return { seen, points, fits };
  }

  /** Again, in other colours. */
  repaint() {
    this.update();
  }

  update() {
    const { plane } = this, { seen, points, fits } = this.fit();
    this.fits = fits;
    const colours = coloursOf(this.host, seen.map(k => `--class-${k}`)), shading = fits[this.shading];
    plane.shade(x => {
      if (!shading) return [0, 0, 0, 0];
      const p = posteriorAt(shading, x);
      return [0, 1, 2].map(c => p.reduce((sum, share, k) => sum + share * colours[k][c], 0)).concat(0.28);
    });
    const lines = [];
    for (const [kind, , dash] of KINDS) {
      const forms = fits[kind];
      if (!forms || !this.shown.has(kind)) continue;
      for (let a = 0; a < forms.length; a++) {
        for (let b = a + 1; b < forms.length; b++) {
          const f = forms[a], g = forms[b];
          const form = { A: f.A.map((row, i) => row.map((value, j) => value - g.A[i][j])), b: f.b.map((value, j) => value - g.b[j]), a: f.a - g.a };
          if (kind === "lda") form.A = [[0, 0], [0, 0]]; // equal covariances, to rounding
          const wins = x => { const best = Math.max(...forms.map(each => valueAt(each, x))); return valueAt(f, x) >= best - 1e-9 || valueAt(g, x) >= best - 1e-9; };
          lines.push(plane.pieces(boundaryPieces(form, plane.frame, wins, 48), { class: "boundary", "stroke-dasharray": dash === "solid" ? null : dash }));
        }
      }
    }
    plane.lines.replaceChildren(...lines);
    for (const grip of this.grips) grip.place();
    this.table.replaceChildren(...KINDS.map(([kind, name]) => element("tr", null, element("th", { scope: "row" }, name), ...this.scores(fits[kind], points).map(text => element("td", null, text)))));
    this.words.textContent = `${this.points.length} points of ${seen.length} ${seen.length === 1 ? "class" : "classes"}. Click in the picture to add one, drag to move one.`;
  }

  scores(forms, points) {
    if (!forms) return ["–", "too few points"];
    let right = 0, loss = 0;
    for (const { x, k } of points) {
      const p = posteriorAt(forms, x);
      if (p.indexOf(Math.max(...p)) === k) right += 1;
      loss -= Math.log(p[k]);
    }
    return [`${right} of ${points.length}`, shownNumber(loss / points.length)];
  }
}

function pointSwatch(k) {
  const node = element("span", { class: "swatch", "aria-hidden": "true" });
  node.style.background = classColour(k);
  return node;
}

function dashKey(dash) {
  return drawn("svg", { class: "dash", viewBox: "0 0 44 8", "aria-hidden": "true" }, drawn("path", { class: "boundary", d: "M0 4H44", "stroke-dasharray": dash === "solid" ? null : dash }));
}

/** The points of a preset, as they can be moved. */
function pointsOf(name) {
  return POINT_PRESETS[name].map(([x, y, k]) => ({ x: [x, y], k }));
}

/** So many points of a class on an ellipse, turn by turn: the same ones at every visit. */
function around(k, number, [cx, cy], [a, b], turn = 0) {
  return Array.from({ length: number }, (_, i) => {
    const angle = turn + 2.39996 * i, far = Math.sqrt((i + 0.5) / number); // the golden angle fills an ellipse evenly
    return [cx + a * far * Math.cos(angle), cy + b * far * Math.sin(angle), k];
  });
}

const POINT_PRESETS = {
  "two that overlap": [
    [-2.1, -1.9, 0], [-1.4, -0.7, 0], [-1.9, 0.6, 0], [-0.7, -0.4, 0], [-1.1, -1.6, 0], [-2.6, -0.9, 0], [0.4, 0.9, 0], [-0.2, 0.3, 0], [-1.2, 0.2, 0],
    [0.6, -0.5, 1], [1.3, 1.0, 1], [0.1, 1.9, 1], [1.8, 0.3, 1], [2.1, 1.8, 1], [-0.6, 2.4, 1], [1.1, -0.2, 1], [1.0, 2.7, 1], [2.7, -1.3, 1], [-0.5, 0.9, 1],
  ],
  // What each is for: logistic would not settle without its penalty; only QDA and naive Bayes see the ring; a group
  // far on the right side moves the line of LDA, and not logistic's; naive Bayes misses that two columns go together.
  "two that can be separated": [...around(0, 12, [-1.8, -0.8], [0.9, 1.2]), ...around(1, 12, [1.8, 0.8], [0.9, 1.2])],
  "one inside the other": [...around(0, 14, [0, 0], [0.8, 0.8]), ...Array.from({ length: 18 }, (_, i) => [2.6 * Math.cos(0.349 * i), 2.4 * Math.sin(0.349 * i), 1])],
  "a far group": [...around(0, 14, [-0.9, 0], [0.7, 1.5]), ...around(1, 14, [0.8, 0], [0.7, 1.5]), ...around(1, 6, [3.5, 0], [0.4, 0.8])],
  "columns that go together": [...Array.from({ length: 14 }, (_, i) => [-2.6 + 0.4 * i, -2.2 + 0.4 * i + 0.25 * Math.cos(2.4 * i), 0]), ...Array.from({ length: 14 }, (_, i) => [-2.6 + 0.4 * i, -3.4 + 0.4 * i + 0.25 * Math.sin(2.4 * i), 1])],
  "three classes": [...around(0, 10, [-1.8, 1.2], [1, 0.9]), ...around(1, 10, [1.8, 1.4], [1.1, 0.8]), ...around(2, 10, [0.2, -1.9], [1.4, 0.8])],
};
