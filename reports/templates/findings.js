/* The findings by component and category; a category shows its first rows, an opened finding its evidence. */
const FIRST = 40;
const STEP = 100;
const CHIPS = 12;

function render(shown) {
  const root = byId("results");
  if (!shown.length) {
    root.replaceChildren(
      el(
        "div",
        { class: "card empty" },
        el("strong", {}, "No finding matches these filters."),
        el("button", { type: "button", class: "plain", onclick: reset }, "Show all findings"),
      ),
    );
    return;
  }
  const groups = new Map();
  for (const f of shown) {
    if (!groups.has(f.component)) groups.set(f.component, new Map());
    const categories = groups.get(f.component);
    if (!categories.has(f.category)) categories.set(f.category, []);
    categories.get(f.category).push(f);
  }
  root.replaceChildren(
    ...[...groups].map(([component, categories]) => {
      const total = [...categories.values()].reduce((sum, list) => sum + list.length, 0);
      return el(
        "section",
        { class: `component ${component}`, "aria-labelledby": `component-${component}` },
        el(
          "h3",
          { id: `component-${component}` },
          el("span", { class: "dot", "aria-hidden": "true" }, "■"),
          data.components[component],
          el("span", { class: "count" }, plural(total, "finding")),
        ),
        ...[...categories].map(([category, list]) => categoryBlock(category, list)),
      );
    }),
  );
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
    more.replaceChildren(
      ...(left
        ? [
            el(
              "button",
              {
                type: "button",
                class: "button",
                onclick: () => {
                  const next = count;
                  grow(count + STEP);
                  rows.children[next].querySelector("summary").focus();
                },
              },
              `Show ${Math.min(STEP, left)} more of ${number(left)}`,
            ),
          ]
        : []),
    );
  };
  const wanted = opened ? list.findIndex((f) => f.id === opened) : -1;
  grow(Math.max(FIRST, wanted + 1));
  return el(
    "div",
    { class: "category" },
    el("h4", {}, category.name, " ", el("span", { class: "count" }, number(list.length))),
    el("p", {}, category.rule),
    rows,
    more,
  );
}
function findingRow(f) {
  const row = el(
    "details",
    { class: "finding", id: `finding-${f.id}` },
    el(
      "summary",
      {},
      el("span", { class: "claim" }, f.claim),
      el(
        "span",
        { class: "meta" },
        el("span", {}, el("span", { class: "glyph", "aria-hidden": "true" }, GLYPH[f.tier]), ` ${data.tiers[f.tier]}`),
        el("span", {}, data.severities[f.severity]),
        f.level === "task" ? null : el("span", {}, `${data.levels[f.level]} level`),
        el("span", { class: "mono" }, f.check),
        touched(f),
        f.drops
          ? el("span", { class: "drop" }, f.tasks.length === 1 ? "✕ drops it" : `✕ drops ${number(f.drops)}`)
          : null,
      ),
    ),
  );
  const fill = () => {
    if (row.open && row.children.length === 1) row.append(findingBody(f));
  };
  row.addEventListener("toggle", () => {
    fill();
    if (row.open) showMarks(row);
    if (row.open) opened = f.id;
    else if (opened === f.id) opened = null;
    else return;
    remember();
  });
  if (f.id === opened) {
    row.open = true;
    fill();
  }
  return row;
}
function touched(f) {
  if (f.tasks.length === 1) return el("span", { class: "mono" }, data.tasks[f.tasks[0]]);
  if (f.tasks.length) return el("span", {}, plural(f.tasks.length, "task"));
  return el("span", {}, f.also.length ? `seen in ${plural(f.also.length, "task")}` : "affects no task");
}
function showMarks(row) {
  for (const pre of row.querySelectorAll(".quote pre")) {
    const mark = pre.querySelector("mark");
    if (!mark) continue;
    if (mark.offsetTop - pre.offsetTop + mark.offsetHeight > pre.clientHeight) pre.scrollTop = Math.max(0, mark.offsetTop - pre.offsetTop - 24);
  }
}
function findingBody(f) {
  const body = el("div", { class: "body" });
  const advice = [
    ["Why it matters", f.why],
    ["Suggested fix", f.fix],
  ].filter(([, text]) => text);
  body.append(
    el(
      "div",
      { class: "advice" },
      ...advice.map(([title, text]) => el("div", {}, el("h5", {}, title), el("p", {}, text))),
    ),
  );
  body.append(el("h5", {}, "Evidence"), el("div", { class: "evidence" }, ...f.evidence.map(quote)));
  if (f.quotes > f.evidence.length)
    body.append(
      el("p", { class: "small muted" }, `${number(f.quotes - f.evidence.length)} more quotes are in findings.json.`),
    );
  const measures = Object.entries(f.measures);
  if (measures.length) {
    const line = measures
      .map(([name, value]) => `${name} = ${value === null ? "undefined" : Number(value.toPrecision(4))}`)
      .join(", ");
    body.append(el("h5", {}, "Figures"), el("p", { class: "small num" }, line));
  }
  if (f.proof) body.append(el("h5", {}, "Proof"), proofBlock(f.proof));
  if (f.command) body.append(el("h5", {}, "Show it again"), command(f.command));
  if (f.decides.length)
    body.append(
      el("h5", {}, `Decides the score of ${plural(f.decides.length, "task")} in a recorded run`),
      chips(f.decides),
    );
  if (f.tasks.length) body.append(el("h5", {}, `Affects ${plural(f.tasks.length, "task")}`), chips(f.tasks));
  if (f.also.length)
    body.append(el("h5", {}, `Also seen in ${plural(f.also.length, "task")}, not counted against them`), chips(f.also));
  if (f.patch.length)
    body.append(
      el("h5", {}, "Proposed repair (JSON Patch)"),
      el("pre", { class: "block", tabindex: "0" }, JSON.stringify(f.patch, null, 2)),
    );
  const task = firstTask(f);
  if (canOpen(task))
    body.append(
      el("p", {}, el("button", { type: "button", class: "button", onclick: () => openTask(task, f.id) }, "Open ", el("code", {}, data.tasks[task]))),
    );
  const link = el("a", { href: `#finding=${f.id}` }, "link to this finding");
  body.append(
    el(
      "p",
      { class: "small muted" },
      "Finding ",
      el("code", {}, f.id),
      `, ${data.checks[f.check]} (`,
      el("code", {}, f.check),
      `, version ${f.version}), `,
      link,
    ),
  );
  return body;
}
function quote(e) {
  const where = [e.place, e.run, e.task].filter(Boolean);
  const caption = el(
    "figcaption",
    {},
    el("strong", {}, e.note ? `${e.subject}: ${e.note}` : e.subject),
    el("span", { class: "where" }, where.join(" · "), " ", el("code", {}, e.pointer)),
  );
  return el(
    "figure",
    { class: "quote" },
    caption,
    el("pre", { tabindex: "0", "aria-label": `Quote from ${e.subject}` }, e.before, el("mark", {}, e.quote), e.after),
  );
}
function chips(tasks) {
  const list = el("div", { class: "chips" });
  const grow = (to) => {
    list.append(...tasks.slice(list.children.length, to).map(taskChip));
    if (tasks.length > to) {
      list.append(
        el(
          "button",
          {
            type: "button",
            class: "plain small",
            onclick: (event) => {
              event.target.remove();
              grow(tasks.length);
            },
          },
          `Show all ${number(tasks.length)}`,
        ),
      );
    }
  };
  grow(CHIPS);
  return list;
}
function taskChip(task) {
  const [action, glyph, words] = ACTIONS[data.actions[task]];
  return el(
    "button",
    {
      type: "button",
      class: "chip",
      title: `${canOpen(task) ? "Open this task" : "Show the findings of this task"} (${words})`,
      onclick: () => openTask(task) || showTask(task),
    },
    el("span", { class: `glyph ${action}`, "aria-hidden": "true" }, glyph),
    el("span", { class: "hidden" }, words),
    ` ${data.tasks[task]}`,
  );
}
/* The task that shows a finding: the one quoted first, else the first that it touches and the page can open. */
function firstTask(f) {
  const quoted = data.tasks.indexOf(f.evidence[0].task);
  return canOpen(quoted) ? quoted : (f.tasks.find(canOpen) ?? -1);
}
function showTask(task) {
  reset();
  query = `task:${data.tasks[task]}`;
  update();
  byId("findings").scrollIntoView();
  byId("search").focus({ preventScroll: true });
}
