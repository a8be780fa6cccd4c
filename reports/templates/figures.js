/* Figures: tooltips of marks, one highlighted model, and the data as a table. */
const MOST_ROWS = 300;

const tip = el("div", { class: "tip", hidden: true });
document.body.append(tip);
function showTip(event, mark) {
  const [first, ...rest] = mark.dataset.tip.split("\n");
  tip.replaceChildren(el("strong", {}, first), ...rest.map((line) => el("div", {}, line)));
  tip.hidden = false;
  const { width, height } = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(4, Math.min(event.clientX + 14, innerWidth - width - 8))}px`;
  tip.style.top = `${event.clientY + height + 24 < innerHeight ? event.clientY + 16 : event.clientY - height - 12}px`;
}
function highlight(svg, subject) {
  svg.classList.toggle("picked", subject !== "");
  for (const mark of svg.querySelectorAll("[data-of]"))
    mark.classList.toggle("on", subject !== "" && mark.dataset.of === subject);
}
function fillTable(figure, { columns, rows }) {
  const cell = (value) =>
    el("td", typeof value === "number" ? { class: "n" } : {}, value == null ? "–" : String(value));
  const table = el(
    "table",
    {},
    el("thead", {}, el("tr", {}, ...columns.map((name) => el("th", { scope: "col" }, name)))),
    el("tbody", {}, ...rows.slice(0, MOST_ROWS).map((row) => el("tr", {}, ...row.map(cell)))),
  );
  const left = rows.length - MOST_ROWS;
  figure
    .querySelector(".data > div")
    .replaceChildren(table, left > 0 ? el("p", { class: "muted small" }, `${number(left)} more rows in the CSV.`) : "");
}
for (const figure of document.querySelectorAll(".figure")) {
  const svg = figure.querySelector(".drawing svg");
  const pick = figure.querySelector(".pick");
  const chosen = () => pick?.querySelector("select").value ?? "";
  if (pick) {
    pick.hidden = false;
    pick.addEventListener("change", () => highlight(svg, chosen()));
  }
  svg?.addEventListener("pointerover", (event) => {
    const mark = event.target.closest("[data-tip]");
    if (mark) showTip(event, mark);
    if (mark?.dataset.of && !chosen()) highlight(svg, mark.dataset.of);
  });
  svg?.addEventListener("pointerout", (event) => {
    if (!event.target.closest("[data-tip]")) return;
    tip.hidden = true;
    highlight(svg, chosen());
  });
  const rows = figure.querySelector(".data");
  rows?.addEventListener("toggle", () => fillTable(figure, data.figures[figure.id.slice("figure-".length)]), {
    once: true,
  });
}
