/* Tables that sort by a column. */
function sortHeader(head, apply) {
  const button = el(
    "button",
    {
      type: "button",
      onclick: () => {
        const direction = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
        head
          .closest("tr")
          .querySelectorAll("[aria-sort]")
          .forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", direction === 1 ? "ascending" : "descending");
        apply(direction);
      },
    },
    head.textContent.trim(),
  );
  head.replaceChildren(button);
}
function sortable(table) {
  const body = table.tBodies[0];
  for (const head of table.querySelectorAll("th[data-sort]")) {
    const column = head.cellIndex,
      numeric = head.dataset.sort === "number";
    const value = (row) => {
      const cell = row.cells[column];
      const text = cell.dataset.value ?? cell.textContent.trim();
      return numeric ? (text === "" || isNaN(text) ? -Number.MAX_VALUE : Number(text)) : text;
    };
    const compare = (a, b) => (numeric ? value(a) - value(b) : value(a).localeCompare(value(b)));
    sortHeader(head, (direction) => body.append(...[...body.rows].sort((a, b) => direction * compare(a, b))));
  }
}
document.querySelectorAll("table.sortable").forEach(sortable);
