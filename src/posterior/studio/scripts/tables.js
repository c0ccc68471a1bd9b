// The table of what was done with each class, and the table of what that costs.
import { classColour, element, named, percent, say, shownNumber } from "./elements.js";
import { PaintedTable } from "./painted.js";

/** A table of costs to be typed in: a row for each true class, a column for each action. */
export class CostTable {
  constructor(names, costs, change) {
    this.boxes = names.map((truth, k) => names.map((action, a) => element("input", {
      type: "number", step: "any", value: costs[k][a], class: k === a ? "right" : "",
      "aria-label": `cost of saying ${action} where ${truth} is the truth`,
      oninput: event => {
        const value = event.target.valueAsNumber;
        if (Number.isFinite(value)) change(k, a, value);
      },
    })));
    this.node = element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "what each answer costs" }, element("table", { class: "costs" },
      element("thead", null, element("tr", null, element("th", { scope: "col" }, "truth\u00a0↓ said\u00a0→"), names.map(name => element("th", { scope: "col" }, named(name))))),
      element("tbody", null, names.map((name, k) => element("tr", null, element("th", { scope: "row" }, element("bdi", null, name)),
        this.boxes[k].map(box => element("td", null, box)))))));
  }

  set(costs) {
    if (costs === this.shown) return; // a table that is changed is a new one
    this.shown = costs;
    this.boxes.forEach((row, k) => row.forEach((box, a) => {
      if (document.activeElement !== box && box.valueAsNumber !== costs[k][a]) box.value = costs[k][a];
    }));
  }
}

/** How many rows of each class got each action, with precision and recall. */
export class ConfusionView {
  constructor(names, labels) {
    const K = names.length, heads = [...names, ...labels];
    this.K = K;
    // Numbers have boxes of a fixed size, so that a table whose numbers are painted is as large as one that holds them.
    const counted = kind => element("td", { class: kind }, element("span", { class: "count" }, element("span")));
    this.counts = names.map((_, k) => heads.map((_, a) => counted(k === a ? "hit" : a < K ? "miss" : "none")));
    this.recall = names.map(() => counted("number"));
    this.precision = heads.map((_, a) => counted(a < K ? "number" : "none"));
    this.cells = [...this.counts.flat(), ...this.recall, ...this.precision.slice(0, K)];
    this.shares = new Float64Array(this.cells.length);
    this.heads = heads.map((name, a) => element("th", { scope: "col" }, named(name), a < K ? swatch(a) : null));
    this.painted = new PaintedTable(element("table", { class: "confusion" },
      element("thead", null, element("tr", null, element("th", { scope: "col" }, "truth\u00a0↓ said\u00a0→"), this.heads, element("th", { scope: "col" }, "recall"))),
      element("tbody", null, names.map((name, k) => element("tr", null, element("th", { scope: "row" }, element("bdi", null, name)), this.counts[k], this.recall[k]))),
      element("tfoot", null, element("tr", null, element("th", { scope: "row" }, "precision"), this.precision, element("td", null)))), this.cells);
    this.node = element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "true classes against answers" }, this.painted.node);
    addEventListener("resize", () => this.rest());
  }

  /** Numbers of a setting, painted while they move; `shows` says whether anything is rejected, and called an outlier. */
  set(found, shows, moves) {
    const { K, cells, shares } = this, { classes, confusion, width } = found;
    this.fit(found.total, shows);
    const words = Array.from(confusion, count => shownNumber(count, Number.isInteger(count) ? 0 : 1));
    for (let cell = 0; cell < K * width; cell++) {
      const { own } = classes[Math.floor(cell / width)];
      shares[cell] = own > 0 ? Math.round(100 * confusion[cell] / own) / 100 : 0;
    }
    words.push(...classes.map(each => percent(each.recall)), ...classes.map(each => percent(each.precision)));
    cells.forEach((cell, i) => say(cell.firstChild.firstChild, words[i]));
    if (!moves || !this.painted.draw(words, shares)) this.rest();
  }

  /** Show the cells themselves, in the shades that were painted last. */
  rest() {
    this.painted.end();
    this.cells.forEach((cell, i) => { if (cell.share !== this.shares[i]) cell.style.setProperty("--share", cell.share = this.shares[i]); });
  }

  /** Make room for the largest number, and show the columns that are in use. */
  fit(total, shows) {
    const { K } = this, wide = Math.max(shownNumber(total, 1).length, 3);
    if (wide !== this.wide) {
      this.painted.end();
      this.node.style.setProperty("--wide", `${this.wide = wide}ch`);
    }
    for (const a of [K, K + 1]) {
      const hidden = !shows[a - K];
      if (this.heads[a].hidden === hidden) continue;
      this.painted.end();
      for (const part of [this.heads[a], this.precision[a], ...this.counts.map(row => row[a])]) part.hidden = hidden;
    }
  }
}

function swatch(k) {
  const node = element("span", { class: "swatch", "aria-hidden": "true" });
  node.style.background = classColour(k);
  return node;
}
