/* The panel of one task. Its data is loaded from a file next to the page, which is a script that calls this function. */
const MOST_LOADED = 8;
const loadedFiles = new Map();
window.agenthardInstances = (number, content) => {
  if (loadedFiles.size >= MOST_LOADED) loadedFiles.delete(loadedFiles.keys().next().value);
  loadedFiles.set(number, content);
};
function loadFile(number) {
  if (loadedFiles.has(number)) return Promise.resolve(loadedFiles.get(number));
  return new Promise((resolve, reject) => {
    const script = el("script", { src: `${data.folder}/${String(number).padStart(4, "0")}.js` });
    script.onload = () => (loadedFiles.has(number) ? resolve(loadedFiles.get(number)) : reject());
    script.onerror = reject;
    document.head.append(script);
  }).finally(() => document.head.querySelectorAll("script[src]").forEach((script) => script.remove()));
}

const panel = { task: null, finding: null, mark: -1 };
function canOpen(task) {
  return task >= 0 && data.files[task] > 0;
}
/* Opens a task, at a finding if one is given; returns false where the page has no file for it. */
function openTask(task, finding = null) {
  if (!canOpen(task)) return false;
  const dialog = byId("instance");
  Object.assign(panel, { task, finding, mark: -1 });
  byId("instance-title").textContent = data.tasks[task];
  byId("instance-state").textContent = "";
  byId("instance-side").replaceChildren();
  byId("instance-body").replaceChildren(el("p", { class: "muted" }, "Loading …"));
  if (!dialog.open) dialog.showModal();
  byId("instance-close").focus();
  remember();
  loadFile(data.files[task]).then(
    (content) => {
      if (panel.task === task) fillPanel(content.tasks.find((one) => one.id === data.tasks[task]), content.blocks);
    },
    () => {
      const name = `${data.folder}/${String(data.files[task]).padStart(4, "0")}.js`;
      byId("instance-body").replaceChildren(
        el("p", {}, "This task is in ", el("code", {}, name), ", which is not next to this page. Keep the page and that folder together."),
      );
    },
  );
  return true;
}
function fillPanel(task, blocks) {
  const [, glyph, words] = ACTIONS.find(([action]) => action === task.action) ?? ["", "", task.action];
  byId("instance-state").textContent = [`${glyph} ${words}`, task.place].filter(Boolean).join(" · ");
  const claims = task.findings.map((finding) =>
    el(
      "li",
      {},
      el(
        "button",
        { type: "button", class: "claim-button", "aria-pressed": "false", "data-finding": finding.id, onclick: () => selectFinding(finding.id) },
        el("span", {}, finding.claim),
        el(
          "span",
          { class: "meta" },
          `${GLYPH[finding.tier]} ${data.tiers[finding.tier]}, ${data.severities[finding.severity].toLowerCase()}`,
          finding.touches ? null : ", not counted against this task",
        ),
      ),
    ),
  );
  byId("instance-side").replaceChildren(
    el("h3", {}, plural(task.findings.length, "finding")),
    el("ol", { class: "claims" }, ...claims),
    el("p", {}, el("button", { type: "button", class: "plain", onclick: () => listFindings(panel.task) }, "Show these in the list")),
    el("h3", {}, "Decision"),
    el("ul", { class: "small" }, ...task.reasons.map((reason) => el("li", {}, reason))),
  );
  byId("instance-body").replaceChildren(renderInstance(task, blocks));
  byId("instance-parts").replaceChildren(
    ...[...byId("instance-body").querySelectorAll(".part-of")].map((part) =>
      el("button", { type: "button", class: "plain", onclick: () => part.scrollIntoView() }, part.getAttribute("aria-label")),
    ),
  );
  const wanted = panel.finding ?? task.findings[0]?.id;
  if (wanted) selectFinding(wanted, panel.finding !== null);
}
function selectFinding(id, scroll = true) {
  Object.assign(panel, { finding: id, mark: -1 });
  for (const button of byId("instance-side").querySelectorAll("[data-finding]"))
    button.setAttribute("aria-pressed", String(button.dataset.finding === id));
  dimOthers();
  if (!ownMarks().length) showQuotedRun();
  remember();
  if (scroll) nextMark();
}
function ownMarks() {
  return [...byId("instance-body").querySelectorAll("mark:not(.other)")];
}
function dimOthers() {
  for (const mark of byId("instance-body").querySelectorAll("mark"))
    mark.classList.toggle("other", !mark.dataset.of.split(" ").includes(panel.finding));
}
/* A finding may quote runs of a model that is not shown. */
function showQuotedRun() {
  const choice = byId("instance-body").querySelector(".model-choice");
  if (!choice) return;
  const before = choice.value;
  for (const value of [...[...choice.options].map((option) => option.value), before]) {
    choice.value = value;
    choice.dispatchEvent(new Event("change", { bubbles: true }));
    if (ownMarks().length) return;
  }
}
function nextMark() {
  const marks = ownMarks();
  if (!marks.length) return;
  panel.mark = (panel.mark + 1) % marks.length;
  const mark = marks[panel.mark];
  const tool = mark.closest("details");
  if (tool) tool.open = true;
  mark.scrollIntoView({ block: "center" });
  marks.forEach((one) => one.classList.toggle("current", one === mark));
}
function nextFinding(step) {
  const ids = [...byId("instance-side").querySelectorAll("[data-finding]")].map((button) => button.dataset.finding);
  const at = ids.indexOf(panel.finding) + step;
  if (ids[at]) selectFinding(ids[at]);
}
function listFindings(task) {
  byId("instance").close();
  showTask(task);
}
function buildPanel() {
  byId("instance-close").addEventListener("click", () => byId("instance").close());
  byId("instance").addEventListener("close", () => {
    panel.task = null;
    remember();
  });
  byId("instance-body").addEventListener("change", dimOthers);
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-task]");
    if (!link) return;
    if (openTask(data.tasks.indexOf(link.dataset.task), link.dataset.at || null)) event.preventDefault();
  });
}
