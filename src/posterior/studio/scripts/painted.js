// The numbers of a table on a canvas while they move: a browser styles, lays out and paints a hundred cells several
// times as slowly as it draws a hundred words. The cells say the same all the while, and are shown again at rest.
import { element } from "./elements.js";

const MOST_PIXELS = 1 << 24; // of a canvas, in the browser that allows the fewest

/** A table, and a canvas behind it on which its cells are drawn: each a box of a fixed size, with an element of words in it. */
export class PaintedTable {
  constructor(table, cells) {
    this.canvas = element("canvas", { "aria-hidden": "true" });
    this.node = element("div", { class: "painted" }, this.canvas, table);
    Object.assign(this, { table, cells, pen: this.canvas.getContext("2d"), moves: false });
  }

  /** Draw the cells, with these words, shaded by these shares, in the colours and letters that they have at rest. */
  draw(words, shares) {
    if (!this.begin()) return false;
    const { pen, places } = this;
    let style = null;
    places.forEach((place, i) => {
      const { x, y, wide, high } = place;
      if (!wide || (place.words === words[i] && place.share === shares[i])) return;
      Object.assign(place, { words: words[i], share: shares[i] });
      if (style !== place.style) pen.font = (style = place.style).font;
      pen.clearRect(x, y, wide, high);
      if (shares[i] > 0) {
        pen.fillStyle = style.shade;
        pen.globalAlpha = style.most * shares[i];
        pen.fillRect(x, y, wide, high);
        pen.globalAlpha = 1;
      }
      pen.fillStyle = style.colour;
      pen.fillText(words[i], place.right, place.line);
    });
    return true;
  }

  /** Measure the cells and take their place; false where the table is too large for it. */
  begin() {
    if (this.moves) return true;
    const { table, cells, canvas, pen } = this, around = table.getBoundingClientRect(), sharp = devicePixelRatio;
    if (around.width * around.height * sharp * sharp > MOST_PIXELS) return false;
    canvas.width = Math.ceil(around.width * sharp);
    canvas.height = Math.ceil(around.height * sharp);
    canvas.style.width = `${canvas.width / sharp}px`;
    canvas.style.height = `${canvas.height / sharp}px`;
    pen.setTransform(sharp, 0, 0, sharp, 0, 0);
    pen.textAlign = "right";
    const styles = new Map(); // cells of the same class look the same
    const whole = value => Math.round(value * sharp) / sharp; // so that no pixel belongs to two cells
    this.places = cells.map(cell => {
      if (!styles.has(cell.className)) styles.set(cell.className, this.styleOf(cell));
      const own = cell.getBoundingClientRect(), box = cell.firstChild.getBoundingClientRect(), style = styles.get(cell.className);
      const x = whole(own.left - around.left), y = whole(own.top - around.top), above = (box.height - style.ascent - style.descent) / 2;
      return { x, y, wide: whole(own.right - around.left) - x, high: whole(own.bottom - around.top) - y, style,
        right: box.right - around.left, line: Math.round(box.top - around.top + above + style.ascent), words: null, share: 0 };
    });
    this.node.classList.add("moving");
    return this.moves = true;
  }

  /** Show the cells themselves again. */
  end() {
    if (this.moves) this.node.classList.remove("moving");
    this.moves = false;
  }

  styleOf(cell) {
    const style = getComputedStyle(cell), font = style.font;
    this.pen.font = font;
    const { fontBoundingBoxAscent: ascent, fontBoundingBoxDescent: descent } = this.pen.measureText("0");
    return { font, colour: style.color, shade: `rgb(${style.getPropertyValue("--shade")})`, most: Number(style.getPropertyValue("--most")),
      ascent: Math.round(ascent), descent: Math.round(descent) };
  }
}
