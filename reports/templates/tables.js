/* The table of decisions, and tables that sort by a column. */
const ROWS = 100;

const decided = { rows: [], order: ["task", 1], shown: ROWS };
const DECISION_KEYS = { task: (r) => r[0], action: (r) => data.actions[r[0]], findings: (r) => r[2] };
function listDecisions() {
  const wanted = byId("which").value;
  const [key, direction] = decided.order,
    value = DECISION_KEYS[key];
  decided.rows = data.decided.filter(
    ([task]) =>
      wanted === "all" || (wanted === "open" ? data.actions[task] < 2 : ACTIONS[data.actions[task]][0] === wanted),
  );
  decided.rows.sort((a, b) => direction * (value(a) - value(b)) || a[0] - b[0]);
  const rows = decided.rows.slice(0, decided.shown).map(([task, reasons, findings]) => {
    const [action, glyph] = ACTIONS[data.actions[task]];
    const words = reasons.map((i) => data.reasons[i]);
    const rest =
      words.length > 1
        ? el(
            "details",
            {},
            el("summary", {}, `${words.length - 1} more`),
            el("ul", {}, ...words.slice(1).map((word) => el("li", {}, word))),
          )
        : null;
    return el(
      "tr",
      {},
      el(
        "th",
        { scope: "row", class: "name" },
        el(
          "button",
          { type: "button", class: "chip", title: "Show the findings of this task", onclick: () => showTask(task) },
          data.tasks[task],
        ),
      ),
      el(
        "td",
        {},
        el("span", { class: action }, el("span", { class: "glyph", "aria-hidden": "true" }, glyph), ` ${action}`),
      ),
      el("td", { class: "n" }, number(findings)),
      el("td", { class: "wide" }, words[0], rest),
    );
  });
  if (!rows.length) rows.push(el("tr", {}, el("td", { colspan: "4", class: "empty" }, "No task has this decision.")));
  byId("decided").replaceChildren(...rows);
  const left = decided.rows.length - decided.shown;
  byId("more-decided").hidden = left <= 0;
  byId("more-decided").textContent = `Show ${Math.min(ROWS, left)} more of ${number(left)}`;
  byId("decided-count").textContent = plural(decided.rows.length, "task");
}
function buildDecisions() {
  byId("which").addEventListener("change", () => {
    decided.shown = ROWS;
    listDecisions();
  });
  byId("more-decided").addEventListener("click", () => {
    decided.shown += ROWS;
    listDecisions();
  });
  for (const head of document.querySelectorAll("#decisions-table th[data-key]")) {
    sortHeader(head, (direction) => {
      decided.order = [head.dataset.key, direction];
      listDecisions();
    });
  }
  listDecisions();
}

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
      return numeric ? Number(text) : text;
    };
    const compare = (a, b) => (numeric ? value(a) - value(b) : value(a).localeCompare(value(b)));
    sortHeader(head, (direction) => body.append(...[...body.rows].sort((a, b) => direction * compare(a, b))));
  }
}
