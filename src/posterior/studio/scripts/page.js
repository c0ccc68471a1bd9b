// The studio page: controls on one side, what they do on the other, worked out at most once a frame.
import { Beside, workBeside, workedOut } from "./beside.js";
import { fitCommand, predictCommand, pythonLines } from "./commands.js";
import { CurveCharts } from "./curves.js";
import { posteriorsOfRow, readRows } from "./decisions.js";
import { outcome } from "./outcomes.js";
import { element, freshId, oncePerFrame, percent, say, shownNumber, slider, whileInSight } from "./elements.js";
import { oddRows, outlierThreshold, readOutliers } from "./outliers.js";
import { posteriorOf, shifted, termsOf } from "./model.js";
import { RowExplorer } from "./rows.js";
import { coverageOf, firstSetting, round, settingFromHash, settingToHash, tidy, withShare, zeroOne } from "./state.js";
import { ConfusionView, CostTable } from "./tables.js";

const MANY_SLIDERS = 5;
const ON_TIME = 60; // frames after which a thread that was late counts as on time again

export class Studio {
  constructor(data, host) {
    this.data = data;
    this.rows = readRows(data);
    this.outliers = readOutliers(data);
    this.first = firstSetting(data);
    this.setting = settingFromHash(location.hash, this.first, data);
    this.known = { rows: this.rows, outliers: this.outliers, old: data.old, observed: data.observed };
    this.moves = false; // whether a hand moves the setting
    this.turn = 0; // which half of the sliders is moved in this frame
    this.told = this.next = null; // results of the thread beside that are to be shown, the older first
    this.behind = 0; // frames in a row at which two of them waited
    this.serial = 0; // settings that were worked out here: what the thread beside found before them is out of date
    this.later = oncePerFrame(() => this.follow());
    this.beside = Beside.of(this.known, told => this.hear(told));
    this.build(host);
    this.update();
    if (!/(^#|&)row=/.test(location.hash)) this.setting.row = this.explorer.ordered()[0] ?? 0;
    this.first.row = this.setting.row;
    this.explorer.showList();
    this.explorer.showRow();
    addEventListener("hashchange", () => {
      if (location.hash.slice(1) === settingToHash(this.setting, this.first)) return;
      this.setting = settingFromHash(location.hash, this.first, data);
      this.update();
      this.explorer.showRow();
    });
  }

  /** Change a part of the setting: the thread beside begins at once where it is idle, and the page follows in the next frame. */
  change(part) {
    Object.assign(this.setting, part);
    this.moved = performance.now();
    this.due = this.moves = true;
    this.ask();
    this.later();
    this.waitForRest();
  }

  // -- controls --------------------------------------------------------------------------------------

  build(host) {
    const { data } = this;
    this.confusion = new ConfusionView(data.classes, data.labels);
    this.explorer = new RowExplorer(this);
    this.tiles = Object.fromEntries(["cost", "all", "right", "coverage", "rejected", "odd"].map(key => [key, element("dd")]));
    const tile = (key, words, beside) => element("div", { class: key }, element("dt", null, words), this.tiles[key], beside ? element("small", null, beside) : null);
    this.curves = new CurveCharts(data.classes.length);
    this.charts = this.curves.charts;
    this.pending = element("p", { class: "aside", role: "status" });
    this.codes = { fit: element("code"), predict: element("code"), python: element("code") };
    this.commands = card("The same, without this page", ...this.commandBlocks());
    host.replaceChildren(
      element("section", { class: "controls", "aria-label": "Settings" },
        this.priorsCard(), this.costsCard(), this.rejectCard(), this.outliersCard(),
        element("p", null, element("button", { type: "button", onclick: () => this.reset() }, "Back to where the page began"))),
      element("div", { class: "results" },
        element("dl", { class: "tiles" }, tile("cost", "average cost of an answer"), tile("all", "average cost of a row", "looks included"),
          tile("right", "right among answered"), tile("coverage", "answered"), tile("rejected", "rejected, for a person"), tile("odd", "called outliers")),
        card("What is said of each class", this.confusion.node, this.pending),
        element("section", { class: "card" }, element("h2", null, "What other thresholds would do"), this.positiveChooser(),
          element("div", { class: "charts" }, Object.values(this.charts).map(chart => chart.node))),
        card("One row", this.explorer.node), this.commands));
    this.drawing = Object.entries(this.charts).map(([name, chart]) => whileInSight(chart.node, () => this.showChart(name)));
    this.following = [...this.drawing, whileInSight(this.explorer.detail, () => this.explorer.update()), whileInSight(this.commands, () => this.showCommands())];
  }

  priorsCard() {
    const { data } = this;
    if (!data.old) return card("Class frequencies", element("p", { class: "aside" }, "The class frequencies in these posteriors are not known, so that they cannot be moved."));
    this.shares = data.classes.map((name, k) => slider({
      label: name, low: 0, high: 100, step: 0.1, value: 100 * data.observed[k], unit: "%",
      change: value => this.change({ priors: withShare(this.setting.priors ?? data.observed, k, value / 100) }),
    }));
    data.old.forEach((old, k) => { if (!(old > 0)) this.shares[k].range.disabled = this.shares[k].box.disabled = true; });
    const observed = element("button", { type: "button", onclick: () => this.change({ priors: null }) }, "as in these rows");
    const even = element("button", { type: "button", onclick: () => this.change({ priors: tidy(data.old.map((old, _, all) => (old > 0 ? 1 / all.filter(p => p > 0).length : 0))) }) }, "all the same");
    return card("Class frequencies", element("p", { class: "aside" }, "How often each class is met where the model is used; posteriors and counts follow by Bayes’ rule."),
      this.shares.map(share => share.node), element("p", { class: "inline" }, observed, even));
  }

  costsCard() {
    const { data } = this, K = data.classes.length;
    this.costTable = new CostTable(data.classes, this.setting.costs, (k, a, value) => {
      const costs = this.setting.costs.map(row => row.slice());
      costs[k][a] = value;
      this.change({ costs });
    });
    return card("What an answer costs", this.costTable.node,
      element("p", { class: "inline" }, element("button", { type: "button", onclick: () => this.change({ costs: zeroOne(K) }) }, "every mistake 1")));
  }

  rejectCard() {
    const id = freshId("reject");
    const rules = [["", "answer every row"], ["threshold", "not below a posterior"], ["cost", "not where a look is cheaper"], ["coverage", "a share of the rows"], ["capacity", "what people can look at in a day"]];
    this.rule = element("select", { id, onchange: event => this.chooseRule(event.target.value) }, rules.map(([value, words]) => element("option", { value }, words)));
    const number = (rule, label, low, high, step, value, unit = "", scale = 1) => slider({
      label, low, high, step, value, unit, change: given => this.change({ reject: [rule, round(given / scale)] }),
    });
    this.levels = {
      threshold: number("threshold", "smallest posterior to answer", 0.01, 1, 0.001, 0.9),
      coverage: number("coverage", "answered", 1, 100, 0.1, 90, "%", 100),
    };
    const dayBox = (which, words) => element("input", { type: "number", min: which, step: 1, value: this.setting.day[which], "aria-label": words,
      oninput: event => { const value = event.target.valueAsNumber; if (value >= which) { const day = this.setting.day.slice(); day[which] = value; this.change({ day, capacity: true, reject: ["coverage", coverageOf(day)] }); } } });
    this.dayBoxes = [dayBox(0, "cases a day that can be looked at"), dayBox(1, "cases a day")];
    this.capacity = element("p", { class: "inline" }, this.dayBoxes[0], " of ", this.dayBoxes[1], " cases a day can be looked at");
    this.look = slider({ label: "what a look costs", low: 0, high: 2, step: 0.01, value: this.setting.look,
      change: value => this.change({ look: round(value), ...(this.setting.reject?.[0] === "cost" ? { reject: ["cost", round(value)] } : {}) }) });
    return card("When not to answer", element("p", null, element("label", { for: id, class: "hidden" }, "When not to answer"), this.rule),
      Object.values(this.levels).map(level => level.node), this.capacity, this.look.node);
  }

  chooseRule(rule) {
    const { look, day } = this.setting;
    const number = { threshold: 0.9, cost: look, coverage: 0.9 }[rule];
    if (rule === "capacity") this.change({ capacity: true, reject: ["coverage", coverageOf(day)] });
    else this.change({ capacity: false, reject: rule ? [rule, number] : null });
  }

  outliersCard() {
    if (!this.outliers) return card("Outliers", element("p", { class: "aside" }, `Not in this page: ${this.data.outliers.why}.`));
    const id = freshId("odd");
    this.oddBox = element("input", { type: "checkbox", id, onchange: event => this.change({ outliers: event.target.checked ? 0.01 : 0 }) });
    this.rate = slider({ label: "false alarms among usual rows", low: 0.1, high: 20, step: 0.1, value: 1, unit: "%", change: value => this.change({ outliers: round(value / 100) }) });
    this.few = element("p", { class: "aside" });
    return card("Outliers", element("p", { class: "inline" }, this.oddBox, element("label", { for: id }, "call rows that are like nothing in training outliers")), this.rate.node, this.few);
  }

  positiveChooser() {
    const id = freshId("class");
    this.positive = element("select", { id, onchange: event => this.change({ positive: Number(event.target.value) }) },
      this.data.classes.map((name, k) => element("option", { value: k }, name)));
    return element("p", { class: "inline" }, element("label", { for: id }, "The class looked at: "), this.positive);
  }

  commandBlocks() {
    return [["fit", "First, the model file:"], ["predict", "As a command:"], ["python", "In Python:"]].map(([key, words]) => {
      const copy = element("button", { type: "button", class: "copy", "aria-live": "polite", onclick: async () => {
        try { await navigator.clipboard.writeText(this.codes[key].textContent); copy.textContent = "Copied"; } catch {
          getSelection().selectAllChildren(this.codes[key]);
          copy.textContent = "Selected";
        }
        setTimeout(() => { copy.textContent = "Copy"; }, 2000);
      } }, "Copy");
      const node = element("div", { class: "command" }, element("p", { class: "aside" }, words), element("pre", null, this.codes[key], copy));
      if (key === "fit" && !fitCommand(this.data)) node.hidden = true;
      return node;
    });
  }

  reset() {
    this.setting = structuredClone(this.first);
    this.explorer.changed.clear();
    this.update();
    this.explorer.showList();
    this.explorer.showRow();
  }

  // -- what follows ------------------------------------------------------------------------------------

  /** Work the setting out here and now, and show it. */
  update() {
    this.settle();
    this.show();
    this.waitForRest();
  }

  settle() {
    this.found = workedOut(this.known, this.setting, true);
    this.serial += 1;
    this.due = this.unsettled = false;
  }

  /** Give the thread beside the newest setting, where it has nothing to do. */
  ask() {
    if (!this.beside || this.beside.busy || !this.due) return;
    this.due = false;
    this.unsettled = true;
    this.beside.ask(this.setting, this.drawing.some(part => part.seen()), { serial: this.serial, moved: this.moved });
  }

  /**
   * The thread beside has found something, which the next frame shows; where the hand has moved on, it goes on at once.
   * Of two results that come between two frames, because the first was late, each gets a frame of its own.
   */
  hear(told) {
    if (this.beside?.failed) {
      this.beside = this.told = this.next = null;
      this.due ||= this.unsettled;
    } else if (!this.told) this.told = told;
    else {
      this.told = this.next ?? this.told;
      this.next = told;
    }
    this.ask();
    this.later();
  }

  /** A frame while the hand moves: what the thread beside found last, or without one all that there is, and the controls. */
  follow() {
    const told = this.nextToShow(), { beside } = this;
    if (this.told) this.later();
    if (beside && told?.serial === this.serial) this.found = { ...told.found, done: this.rows.done };
    else if (beside || !this.due) return this.showControls();
    else this.settle();
    this.show();
  }

  /** The older result that waits; the newer one where two have waited at every frame of a second, so that the delay of one frame is not needed. */
  nextToShow() {
    this.behind = this.next ? this.behind + 1 : 0;
    const [told, next] = this.behind < ON_TIME ? [this.told, this.next] : [this.next, null];
    Object.assign(this, { told: next, next: null });
    return told;
  }

  show() {
    this.showControls();
    this.showResults();
    for (const part of this.following) part.now();
  }

  /** What nobody reads while a slider moves waits until it rests; single rows are then worked out here, too. */
  waitForRest() {
    clearTimeout(this.saving);
    this.saving = setTimeout(() => {
      const { priors } = this.setting;
      this.moves = false;
      if (priors && String(this.setting.priors = tidy(priors)) !== String(priors)) this.unsettled = true;
      if (this.due || this.unsettled) {
        this.settle();
        this.show();
      } else this.showControls();
      this.confusion.rest();
      for (const part of this.following) part.rest();
      this.save();
      this.explorer.showList();
      this.explorer.showWhatIf();
    }, 200);
  }

  /** The setting into the address; files in some browsers allow no history, and then it stays out. */
  save() {
    const hash = settingToHash(this.setting, this.first);
    try { history.replaceState(null, "", hash ? `#${hash}` : location.pathname + location.search); } catch { location.hash = hash; }
  }

  showControls() {
    const { setting, data } = this, [rule, number] = setting.reject ?? [""];
    // Of many sliders that follow a dragged one every second is moved in a frame, and all at rest.
    const all = !this.moves || data.classes.length < MANY_SLIDERS;
    this.turn = 1 - this.turn;
    (setting.priors ?? data.observed).forEach((p, k) => { if (all || k % 2 === this.turn) this.shares?.[k].set(100 * p); });
    this.costTable.set(setting.costs);
    this.rule.value = setting.capacity ? "capacity" : rule;
    for (const [key, level] of Object.entries(this.levels)) {
      level.node.hidden = key !== rule || setting.capacity;
      if (key === rule) level.set(key === "coverage" ? 100 * number : number);
    }
    this.capacity.hidden = !setting.capacity;
    this.dayBoxes.forEach((box, which) => { if (document.activeElement !== box) box.value = setting.day[which]; });
    this.look.set(setting.look);
    this.positive.value = setting.positive;
    if (this.outliers) {
      this.oddBox.checked = setting.outliers > 0;
      this.rate.node.hidden = !setting.outliers;
      if (setting.outliers) this.rate.set(100 * setting.outliers);
      say(this.few, setting.outliers && this.found.silent
        ? "Too few calibration rows: at this rate no row can be called an outlier." : "");
    }
  }

  showResults() {
    const { found, setting, tiles, rows } = this, { K } = rows;
    const sum = what => { let total = 0; for (let k = 0; k < K; k++) total += found.confusion[k * found.width + what]; return total; };
    const right = found.classes.reduce((total, each) => total + each.hit, 0);
    say(tiles.cost, shownNumber(found.cost));
    say(tiles.all, shownNumber(found.costOfAll));
    say(tiles.right, percent(found.answered > 0 ? right / found.answered : NaN));
    say(tiles.coverage, percent(found.coverage));
    say(tiles.rejected, percent(sum(K) / found.total));
    say(tiles.odd, percent(sum(K + 1) / found.total));
    tiles.odd.parentNode.hidden = !setting.outliers;
    tiles.rejected.parentNode.hidden = tiles.all.parentNode.hidden = !setting.reject;
    this.confusion.set(found, [setting.reject, setting.outliers], this.moves);
    say(this.pending, setting.capacity
      ? `Of ${shownNumber(setting.day[1], 0)} cases a day about ${shownNumber(setting.day[1] * (sum(K) / found.total), 0)} go to a person, who can look at ${shownNumber(setting.day[0], 0)}.`
      : setting.priors ? "Rows count as often as their class is met under these frequencies." : "");
  }

  showChart(name) {
    if (!this.found.curves) { // all were out of sight when the rest was worked out
      this.settle();
      this.unsettled = true; // the numbers beside may be of an older setting until the hand rests
    }
    this.curves.draw(name, this.found);
  }

  showCommands() {
    const { data, codes } = this, setting = { ...this.setting, priors: this.setting.priors && tidy(this.setting.priors) };
    say(codes.fit, fitCommand(data) ?? "");
    say(codes.predict, predictCommand(data, setting)
      ?? "# names of classes hold , : or =, which the options use themselves: put the costs into a file, or use Python");
    say(codes.python, pythonLines(data, setting));
  }
}

function card(title, ...children) {
  return element("section", { class: "card" }, element("h2", null, title), children);
}

const holder = globalThis.document?.getElementById("studio-data");
if (!globalThis.document) workBeside(globalThis);
if (holder) {
  const data = JSON.parse(holder.textContent);
  const notes = document.getElementById("notes");
  notes.replaceChildren(...data.notes.map(note => element("li", null, note)));
  const studio = new Studio(data, document.getElementById("studio"));
  // For tests and for the console: the page itself, and what it works with.
  globalThis.posteriorStudio = { studio, outcome, posteriorsOfRow, oddRows, outlierThreshold, termsOf, posteriorOf, shifted, settingToHash, settingFromHash, predictCommand, pythonLines };
}
