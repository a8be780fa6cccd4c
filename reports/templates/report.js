"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const FIRST = 40, STEP = 100, CHIPS = 12, ROWS = 100;
  const GLYPH = { confirmed: "●", suspected: "◐", signal: "○" };
  const ACTIONS = [["drop", "✕", "to drop"], ["review", "?", "to review"], ["keep", "✓", "kept"]];
  const number = (n) => n.toLocaleString("en-US");
  const plural = (n, word) => `${number(n)} ${word}${n === 1 ? "" : "s"}`;
  const byId = (id) => document.getElementById(id);

  /* Every text reaches the page through here, as text: never as markup. */
  function el(tag, props = {}, ...children) {
    const node = document.createElement(tag);
    for (const [key, value] of Object.entries(props)) {
      if (key === "class") node.className = value;
      else if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
      else if (value !== false && value != null) node.setAttribute(key, value === true ? "" : value);
    }
    node.append(...children.filter((child) => child != null));
    return node;
  }

  /* ---------------------------------------------------------------- filters */
  const FACETS = [
    ["component", "Component", data.components],
    ["tier", "How sure", data.tiers],
    ["severity", "Severity", data.severities],
    ["category", "Category", Object.fromEntries(Object.entries(data.categories).map(([id, c]) => [id, c.name]))],
    ["check", "Check", data.checks],
  ].map(([key, title, names]) => ({ key, title, names, present: Object.keys(names).filter((id) => data.findings.some((f) => f[key] === id)) }));
  const chosen = Object.fromEntries(FACETS.map((facet) => [facet.key, new Set()]));
  let dropOnly = false, query = "", opened = null;

  const inputs = new Map();
  function facetInput(key, id, name) {
    const count = el("span", { class: "count" });
    const input = el("input", { type: "checkbox", onchange: () => { input.checked ? chosen[key].add(id) : chosen[key].delete(id); update(); } });
    const glyph = key === "tier" ? GLYPH[id] + " " : "";
    const label = el("label", { class: "facet" }, input, el("span", { class: "title" }, key === "component" ? el("span", { class: `dot ${id}`, "aria-hidden": "true" }, "■ ") : null, glyph + name), count);
    inputs.set(`${key} ${id}`, { input, count, label });
    return label;
  }
  function buildFilters() {
    for (const facet of FACETS) {
      const list = el("div", facet.key === "check" ? { class: "checks" } : {}, ...facet.present.map((id) => facetInput(facet.key, id, facet.names[id])));
      byId("facets").append(el("fieldset", {}, el("legend", {}, facet.title), list));
    }
    const count = el("span", { class: "count" });
    const input = el("input", { type: "checkbox", id: "drop-only", onchange: () => { dropOnly = input.checked; update(); } });
    const label = el("label", { class: "facet" }, input, el("span", {}, "Only what drops a task"), count);
    inputs.set("drop", { input, count, label });
    byId("facets").prepend(el("fieldset", {}, el("legend", {}, "Decision"), label));
    let waiting;
    byId("search").addEventListener("input", (event) => {
      clearTimeout(waiting);
      waiting = setTimeout(() => { query = event.target.value; update(); }, 120);
    });
    byId("reset").addEventListener("click", reset);
    document.addEventListener("keydown", (event) => {
      const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
      if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
        event.preventDefault(); byId("filters").open = true; byId("search").focus();
      }
    });
  }
  function reset() {
    FACETS.forEach((facet) => chosen[facet.key].clear());
    dropOnly = false; query = "";
    update();
  }

  const texts = new Map();
  function haystack(f) {
    if (!texts.has(f)) {
      const quotes = f.evidence.flatMap((e) => [e.quote, e.note, e.place, e.run, e.subject]);
      texts.set(f, [f.id, f.check, f.claim, f.why, f.fix, data.categories[f.category].name, ...quotes, ...f.tasks.map((t) => data.tasks[t])].join("\n").toLowerCase());
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
    const passes = (f, except) => (except === "drop" || !dropOnly || f.drops > 0) &&
      keys.every((key) => key === except || chosen[key].size === 0 || chosen[key].has(f[key]));
    for (const facet of FACETS) {
      const counts = {};
      for (const f of found) if (passes(f, facet.key)) counts[f[facet.key]] = (counts[f[facet.key]] || 0) + 1;
      for (const id of facet.present) setCount(`${facet.key} ${id}`, counts[id] || 0, chosen[facet.key].has(id));
    }
    setCount("drop", found.filter((f) => passes(f, "drop") && f.drops > 0).length, dropOnly);
    const shown = found.filter((f) => passes(f, null));
    const filtered = dropOnly || query.trim() !== "" || keys.some((key) => chosen[key].size > 0);
    byId("shown").textContent = filtered ? `${number(shown.length)} of ${plural(data.findings.length, "finding")}` : plural(data.findings.length, "finding");
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
    const hash = state.toString();
    if (hash || /[=]/.test(location.hash)) history.replaceState(null, "", hash ? `#${hash}` : "#findings");
  }
  function recall() {
    const state = new URLSearchParams(location.hash.slice(1));
    for (const facet of FACETS) {
      chosen[facet.key].clear();
      for (const id of state.getAll(facet.key)) if (facet.present.includes(id)) chosen[facet.key].add(id);
    }
    dropOnly = state.has("drop"); query = state.get("q") || ""; opened = state.get("finding");
    return state;
  }

  /* ---------------------------------------------------------------- findings */
  function render(shown) {
    const root = byId("results");
    if (!shown.length) {
      root.replaceChildren(el("div", { class: "card empty" }, el("strong", {}, "No finding matches these filters."),
        el("button", { type: "button", class: "plain", onclick: reset }, "Show all findings")));
      return;
    }
    const groups = new Map();
    for (const f of shown) {
      if (!groups.has(f.component)) groups.set(f.component, new Map());
      const categories = groups.get(f.component);
      if (!categories.has(f.category)) categories.set(f.category, []);
      categories.get(f.category).push(f);
    }
    root.replaceChildren(...[...groups].map(([component, categories]) => {
      const total = [...categories.values()].reduce((sum, list) => sum + list.length, 0);
      return el("section", { class: `component ${component}`, "aria-labelledby": `component-${component}` },
        el("h3", { id: `component-${component}` }, el("span", { class: "dot", "aria-hidden": "true" }, "■"), data.components[component], el("span", { class: "count" }, plural(total, "finding"))),
        ...[...categories].map(([category, list]) => categoryBlock(category, list)));
    }));
  }
  function categoryBlock(id, list) {
    const category = data.categories[id];
    const rows = el("div", { class: "findings card" });
    const more = el("p", { class: "more" });
    let count = 0;
    const grow = (to) => {
      rows.append(...list.slice(count, to).map(findingRow));
      count = Math.min(to, list.length);
      const left = list.length - count;
      more.replaceChildren(...(left ? [el("button", { type: "button", class: "button", onclick: () => {
        const next = count; grow(count + STEP); rows.children[next].querySelector("summary").focus();
      } }, `Show ${Math.min(STEP, left)} more of ${number(left)}`)] : []));
    };
    const wanted = opened ? list.findIndex((f) => f.id === opened) : -1;
    grow(Math.max(FIRST, wanted + 1));
    return el("div", { class: "category" }, el("h4", {}, category.name, " ", el("span", { class: "count" }, number(list.length))), el("p", {}, category.rule), rows, more);
  }
  function findingRow(f) {
    const row = el("details", { class: "finding", id: `finding-${f.id}` },
      el("summary", {}, el("span", { class: "claim" }, f.claim), el("span", { class: "meta" },
        el("span", {}, el("span", { class: "glyph", "aria-hidden": "true" }, GLYPH[f.tier]), ` ${data.tiers[f.tier]}`),
        el("span", {}, data.severities[f.severity]), el("span", { class: "mono" }, f.check),
        f.tasks.length === 1 ? el("span", { class: "mono" }, data.tasks[f.tasks[0]]) : el("span", {}, plural(f.tasks.length, "task")),
        f.drops ? el("span", { class: "drop" }, f.tasks.length === 1 ? "✕ drops it" : `✕ drops ${number(f.drops)}`) : null)));
    const fill = () => { if (row.open && row.children.length === 1) row.append(findingBody(f)); };
    row.addEventListener("toggle", () => {
      fill();
      if (row.open) showMarks(row);
      if (row.open) opened = f.id; else if (opened === f.id) opened = null; else return;
      remember();
    });
    if (f.id === opened) { row.open = true; fill(); }
    return row;
  }
  function showMarks(row) {
    for (const pre of row.querySelectorAll(".quote pre")) {
      const mark = pre.querySelector("mark");
      if (mark.offsetTop + mark.offsetHeight > pre.clientHeight) pre.scrollTop = Math.max(0, mark.offsetTop - 48);
    }
  }
  function findingBody(f) {
    const body = el("div", { class: "body" });
    const advice = [["Why it matters", f.why], ["Suggested fix", f.fix]].filter(([, text]) => text);
    body.append(el("div", { class: "advice" }, ...advice.map(([title, text]) => el("div", {}, el("h5", {}, title), el("p", {}, text)))));
    body.append(el("h5", {}, "Evidence"), el("div", { class: "evidence" }, ...f.evidence.map(quote)));
    if (f.quotes > f.evidence.length) body.append(el("p", { class: "small muted" }, `${number(f.quotes - f.evidence.length)} more quotes are in findings.json.`));
    const measures = Object.entries(f.measures);
    if (measures.length) {
      const line = measures.map(([name, value]) => `${name} = ${value === null ? "undefined" : Number(value.toPrecision(4))}`).join(", ");
      body.append(el("h5", {}, "Figures"), el("p", { class: "small num" }, line));
    }
    if (f.tasks.length) body.append(el("h5", {}, `Affects ${plural(f.tasks.length, "task")}`), chips(f.tasks));
    if (f.also.length) body.append(el("h5", {}, `Also in ${plural(f.also.length, "task")} that it does not affect`), chips(f.also));
    if (f.patch.length) body.append(el("h5", {}, "Proposed repair (JSON Patch)"), el("pre", { class: "block", tabindex: "0" }, JSON.stringify(f.patch, null, 2)));
    const link = el("a", { href: `#finding=${f.id}` }, "link to this finding");
    body.append(el("p", { class: "small muted" }, "Finding ", el("code", {}, f.id), `, ${data.checks[f.check]} (`, el("code", {}, f.check), `, version ${f.version}), `, link));
    return body;
  }
  function quote(e) {
    const where = [e.place, e.run, e.task].filter(Boolean);
    const caption = el("figcaption", {}, el("strong", {}, e.note ? `${e.subject}: ${e.note}` : e.subject),
      el("span", { class: "where" }, where.join(" · "), " ", el("code", {}, e.pointer)));
    return el("figure", { class: "quote" }, caption,
      el("pre", { tabindex: "0", "aria-label": `Quote from ${e.subject}` }, e.before, el("mark", {}, e.quote), e.after));
  }
  function chips(tasks) {
    const list = el("div", { class: "chips" });
    const grow = (to) => {
      list.append(...tasks.slice(list.children.length, to).map(taskChip));
      if (tasks.length > to) {
        list.append(el("button", { type: "button", class: "plain small", onclick: (event) => { event.target.remove(); grow(tasks.length); } }, `Show all ${number(tasks.length)}`));
      }
    };
    grow(CHIPS);
    return list;
  }
  function taskChip(task) {
    const [action, glyph, words] = ACTIONS[data.actions[task]];
    return el("button", { type: "button", class: "chip", title: `Show the findings of this task (${words})`, onclick: () => showTask(task) },
      el("span", { class: `glyph ${action}`, "aria-hidden": "true" }, glyph), el("span", { class: "hidden" }, words), ` ${data.tasks[task]}`);
  }
  function showTask(task) {
    reset(); query = `task:${data.tasks[task]}`; update();
    byId("findings").scrollIntoView();
    byId("search").focus({ preventScroll: true });
  }

  /* ---------------------------------------------------------------- decisions */
  const decided = { rows: [], order: ["task", 1], shown: ROWS };
  const DECISION_KEYS = { task: (r) => r[0], action: (r) => data.actions[r[0]], findings: (r) => r[2] };
  function listDecisions() {
    const wanted = byId("which").value;
    const [key, direction] = decided.order, value = DECISION_KEYS[key];
    decided.rows = data.decided.filter(([task]) => wanted === "all" || (wanted === "open" ? data.actions[task] < 2 : ACTIONS[data.actions[task]][0] === wanted));
    decided.rows.sort((a, b) => direction * (value(a) - value(b)) || a[0] - b[0]);
    const rows = decided.rows.slice(0, decided.shown).map(([task, reasons, findings]) => {
      const [action, glyph] = ACTIONS[data.actions[task]];
      const words = reasons.map((i) => data.reasons[i]);
      const rest = words.length > 1 ? el("details", {}, el("summary", {}, `${words.length - 1} more`), el("ul", {}, ...words.slice(1).map((word) => el("li", {}, word)))) : null;
      return el("tr", {}, el("th", { scope: "row", class: "name" }, el("button", { type: "button", class: "chip", title: "Show the findings of this task", onclick: () => showTask(task) }, data.tasks[task])),
        el("td", {}, el("span", { class: action }, el("span", { class: "glyph", "aria-hidden": "true" }, glyph), ` ${action}`)),
        el("td", { class: "n" }, number(findings)), el("td", { class: "wide" }, words[0], rest));
    });
    if (!rows.length) rows.push(el("tr", {}, el("td", { colspan: "4", class: "empty" }, "No task has this decision.")));
    byId("decided").replaceChildren(...rows);
    const left = decided.rows.length - decided.shown;
    byId("more-decided").hidden = left <= 0;
    byId("more-decided").textContent = `Show ${Math.min(ROWS, left)} more of ${number(left)}`;
    byId("decided-count").textContent = plural(decided.rows.length, "task");
  }
  function buildDecisions() {
    byId("which").addEventListener("change", () => { decided.shown = ROWS; listDecisions(); });
    byId("more-decided").addEventListener("click", () => { decided.shown += ROWS; listDecisions(); });
    for (const head of document.querySelectorAll("#decisions-table th[data-key]")) {
      sortHeader(head, (direction) => { decided.order = [head.dataset.key, direction]; listDecisions(); });
    }
    listDecisions();
  }

  /* ---------------------------------------------------------------- sortable tables */
  function sortHeader(head, apply) {
    const button = el("button", { type: "button", onclick: () => {
      const direction = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
      head.closest("tr").querySelectorAll("[aria-sort]").forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", direction === 1 ? "ascending" : "descending");
      apply(direction);
    } }, head.textContent.trim());
    head.replaceChildren(button);
  }
  function sortable(table) {
    const body = table.tBodies[0];
    for (const head of table.querySelectorAll("th[data-sort]")) {
      const column = head.cellIndex, numeric = head.dataset.sort === "number";
      const value = (row) => { const cell = row.cells[column]; const text = cell.dataset.value ?? cell.textContent.trim(); return numeric ? Number(text) : text; };
      const compare = (a, b) => (numeric ? value(a) - value(b) : value(a).localeCompare(value(b)));
      sortHeader(head, (direction) => body.append(...[...body.rows].sort((a, b) => direction * compare(a, b))));
    }
  }

  document.querySelectorAll("table.sortable").forEach(sortable);
  if (byId("decided")) buildDecisions();
  if (byId("results")) {
    if (matchMedia("(max-width: 62rem)").matches) byId("filters").open = false;
    recall();
    buildFilters();
    update();
    const reveal = () => opened && byId(`finding-${opened}`)?.scrollIntoView();
    reveal();
    addEventListener("hashchange", () => {
      if (/[=]/.test(location.hash)) { recall(); update(); reveal(); }
    });
  }
})();
