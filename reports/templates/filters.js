/* Facets with counts, the search, and the address that remembers them. */
const FACETS = [
  ["component", "Component", data.components],
  ["tier", "How sure", data.tiers],
  ["severity", "Severity", data.severities],
  ["level", "Where to fix it", data.levels],
  ["category", "Category", Object.fromEntries(Object.entries(data.categories).map(([id, c]) => [id, c.name]))],
  ["check", "Check", data.checks],
].map(([key, title, names]) => ({
  key,
  title,
  names,
  present: Object.keys(names).filter((id) => data.findings.some((f) => f[key] === id)),
}));
const chosen = Object.fromEntries(FACETS.map((facet) => [facet.key, new Set()]));
let dropOnly = false,
  query = "",
  opened = null;

const inputs = new Map();
function facetInput(key, id, name) {
  const count = el("span", { class: "count" });
  const input = el("input", {
    type: "checkbox",
    onchange: () => {
      input.checked ? chosen[key].add(id) : chosen[key].delete(id);
      update();
    },
  });
  const glyph = key === "tier" ? GLYPH[id] + " " : "";
  const label = el(
    "label",
    { class: "facet" },
    input,
    el(
      "span",
      { class: "title" },
      key === "component" ? el("span", { class: `dot ${id}`, "aria-hidden": "true" }, "■ ") : null,
      glyph + name,
    ),
    count,
  );
  inputs.set(`${key} ${id}`, { input, count, label });
  return label;
}
function buildFilters() {
  for (const facet of FACETS) {
    const list = el(
      "div",
      facet.key === "check" ? { class: "checks" } : {},
      ...facet.present.map((id) => facetInput(facet.key, id, facet.names[id])),
    );
    byId("facets").append(el("fieldset", {}, el("legend", {}, facet.title), list));
  }
  const count = el("span", { class: "count" });
  const input = el("input", {
    type: "checkbox",
    id: "drop-only",
    onchange: () => {
      dropOnly = input.checked;
      update();
    },
  });
  const label = el("label", { class: "facet" }, input, el("span", {}, "Only what drops a task"), count);
  inputs.set("drop", { input, count, label });
  byId("facets").prepend(el("fieldset", {}, el("legend", {}, "Decision"), label));
  let waiting;
  byId("search").addEventListener("input", (event) => {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      query = event.target.value;
      update();
    }, 120);
  });
  byId("reset").addEventListener("click", reset);
}
function reset() {
  FACETS.forEach((facet) => chosen[facet.key].clear());
  dropOnly = false;
  query = "";
  update();
}

const texts = new Map();
function haystack(f) {
  if (!texts.has(f)) {
    const quotes = f.evidence.flatMap((e) => [e.quote, e.note, e.place, e.run, e.subject]);
    texts.set(
      f,
      [
        f.id,
        f.check,
        f.claim,
        f.why,
        f.fix,
        data.categories[f.category].name,
        ...quotes,
        ...f.tasks.map((t) => data.tasks[t]),
      ]
        .join("\n")
        .toLowerCase(),
    );
  }
  return texts.get(f);
}
function textTest() {
  const text = query.trim();
  if (!text) return () => true;
  if (text.startsWith("task:")) {
    const task = data.tasks.indexOf(text.slice(5).trim());
    return (f) => f.tasks.includes(task) || f.also.includes(task);
  }
  const words = text.toLowerCase().split(/\s+/);
  return (f) => words.every((word) => haystack(f).includes(word));
}
function update() {
  const found = data.findings.filter(textTest());
  const keys = FACETS.map((facet) => facet.key);
  const passes = (f, except) =>
    (except === "drop" || !dropOnly || f.drops > 0) &&
    keys.every((key) => key === except || chosen[key].size === 0 || chosen[key].has(f[key]));
  for (const facet of FACETS) {
    const counts = {};
    for (const f of found) if (passes(f, facet.key)) counts[f[facet.key]] = (counts[f[facet.key]] || 0) + 1;
    for (const id of facet.present) setCount(`${facet.key} ${id}`, counts[id] || 0, chosen[facet.key].has(id));
  }
  setCount("drop", found.filter((f) => passes(f, "drop") && f.drops > 0).length, dropOnly);
  const shown = found.filter((f) => passes(f, null));
  const chosenFacets = keys.some((key) => chosen[key].size > 0);
  if (dropOnly || chosenFacets) byId("filters").open = true;
  const filtered = dropOnly || query.trim() !== "" || chosenFacets;
  byId("shown").textContent = filtered
    ? `${number(shown.length)} of ${plural(data.findings.length, "finding")}`
    : plural(data.findings.length, "finding");
  byId("reset").hidden = !filtered;
  if (byId("search").value !== query) byId("search").value = query;
  render(shown);
  remember();
}
function setCount(name, count, checked) {
  const { input, count: node, label } = inputs.get(name);
  node.textContent = number(count);
  input.checked = checked;
  label.classList.toggle("none", count === 0);
}

/* The address holds the state, so that a view can be passed on. */
function remember() {
  const state = new URLSearchParams();
  for (const facet of FACETS) for (const id of chosen[facet.key]) state.append(facet.key, id);
  if (dropOnly) state.set("drop", "1");
  if (query.trim()) state.set("q", query.trim());
  if (opened) state.set("finding", opened);
  if (panel.task !== null) {
    state.set("task", data.tasks[panel.task]);
    if (panel.finding) state.set("at", panel.finding);
  }
  const hash = state.toString();
  if (hash || /[=]/.test(location.hash)) history.replaceState(null, "", hash ? `#${hash}` : "#top");
}
function recall() {
  const state = new URLSearchParams(location.hash.slice(1));
  for (const facet of FACETS) {
    chosen[facet.key].clear();
    for (const id of state.getAll(facet.key)) if (facet.present.includes(id)) chosen[facet.key].add(id);
  }
  dropOnly = state.has("drop");
  query = state.get("q") || "";
  opened = state.get("finding");
  return state;
}
