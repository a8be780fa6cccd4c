/* The table of decisions. */
const ROWS = 100;

const decided = { rows: [], order: ["place", 1], shown: ROWS };
const DECISION_KEYS = { task: (r) => r[0], action: (r) => data.actions[r[0]], findings: (r) => r[2], place: (r) => r[3] };
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
          { type: "button", class: "chip", title: "Open this task", onclick: () => openTask(task) || showTask(task) },
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
