// Tables are sorted by a button in each head, commands copied by a button beside them. Without script neither is there.
"use strict";
const numberIn = words => {
  const plain = words.trim().replace(/−/g, "-").replace(/,/g, "").replace(/^[<>] /, "").replace("∞", "Infinity");
  if (plain === "none") return 0;
  return parseFloat(plain) * (/^-?[\d.]+ ms/.test(plain) ? 0.001 : 1);
};
const compared = (one, other, numbers) => {
  if (!numbers) return one.localeCompare(other);
  const [a, b] = [numberIn(one), numberIn(other)];
  return Number.isNaN(a) || Number.isNaN(b) ? Number.isNaN(a) - Number.isNaN(b) : a - b;
};
const sort = (head, column) => {
  const body = head.closest("table").tBodies[0], rows = [...body.rows];
  const down = head.getAttribute("aria-sort") === "ascending";
  const words = row => row.cells[column].textContent;
  const numbers = head.matches(".number, .share") || rows.every(row => /^[−\d.,]+$/.test(words(row).trim()));
  const unknown = row => numbers && Number.isNaN(numberIn(words(row)));
  rows.sort((a, b) => unknown(a) - unknown(b) || (down ? -1 : 1) * compared(words(a), words(b), numbers));
  for (const other of head.parentNode.cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", down ? "descending" : "ascending");
  body.append(...rows);
};
for (const table of document.querySelectorAll("table")) {
  if (table.tBodies[0].rows.length < 3) continue;
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    if (head.matches(".chart") || !head.textContent.trim()) return;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sort";
    button.append(...head.childNodes);
    button.addEventListener("click", () => sort(head, column));
    head.append(button);
  });
}
for (const code of document.querySelectorAll("pre > code")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.setAttribute("aria-live", "polite");
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(code);
      button.textContent = "Selected";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
  code.parentNode.append(button);
}
