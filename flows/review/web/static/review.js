/* The pages of a review. The server renders them; this script draws the task, sends what a reviewer decides, listens to
   others, and handles the keys. */
const openedAt = performance.now();
const seconds = () => Math.round((performance.now() - openedAt) / 100) / 10;
const go = (url) => url && location.assign(url);

/* Loads the page again and replaces what the server renders differently now; what is being typed stays. */
async function refresh(only = "[data-live]") {
  const answer = await fetch(location.href, { headers: { accept: "text/html" } });
  if (!answer.ok) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const node of document.querySelectorAll(only)) {
    const other = node.id && fresh.getElementById(node.id);
    if (other && !node.contains(document.activeElement)) node.replaceWith(document.adoptNode(other));
  }
}
function listen() {
  const source = new EventSource(`${data.live}?${new URLSearchParams({ task: data.task ?? "", after: data.after })}`);
  let later = 0;
  source.onmessage = (message) => {
    const told = JSON.parse(message.data);
    if (told.kind === "here") return showWho(told.users);
    const ours = told.by === data.user;
    if (ours && told.missed && told.id === data.task) return location.reload(); // sent by an earlier page while this one was rendered
    if (ours && !told.missed && !document.hidden) return;
    if (!ours && told.id === data.task) say(`${told.by} has just decided on this task.`);
    clearTimeout(later);
    later = setTimeout(() => refresh(), 300);
  };
  addEventListener("pagehide", () => source.close());
}
function showWho(users) {
  const others = users.filter((user) => user !== data.user);
  if (byId("here")) byId("here").textContent = others.length ? `· ${others.join(", ")} also ${others.length > 1 ? "look" : "looks"} at this task` : "";
}

/* The task */
let finding = null;
let mark = -1;
function drawTask() {
  const { task, blocks } = data.shown;
  byId("task-place").textContent = task.place ? `${task.place} · ` : "";
  byId("instance-body").replaceChildren(renderInstance(task, blocks, loadMessages));
  byId("parts-nav").replaceChildren(
    ...[...document.querySelectorAll(".part-of")].map((part) =>
      el("button", { type: "button", class: "plain", onclick: () => part.scrollIntoView() }, part.getAttribute("aria-label")),
    ),
  );
  byId("instance-body").addEventListener("change", (event) => {
    dimOthers();
    if (event.target.matches(".model-choice") && finding) loadQuotes(finding);
  });
  document.querySelectorAll("[data-finding]").forEach((button) => button.addEventListener("click", () => choose(button.dataset.finding)));
  const first = document.querySelector("[data-finding]");
  if (first) choose(first.dataset.finding, false);
}
async function loadMessages(run, start, whole) {
  const query = new URLSearchParams({ task: data.task, trajectory: run.id, start, ...(whole ? { whole: 1 } : {}) });
  const answer = await fetch(`${data.messages}?${query}`).catch(() => null);
  if (!answer?.ok) throw new Error("The server did not send them; try again.");
  return answer.json();
}
const marks = () => [...byId("instance-body").querySelectorAll("mark:not(.other)")];
function dimOthers() {
  for (const each of byId("instance-body").querySelectorAll("mark"))
    each.classList.toggle("other", !each.dataset.of.split(" ").includes(finding));
}
async function choose(id, scroll = true) {
  finding = id;
  mark = -1;
  for (const button of document.querySelectorAll("[data-finding]")) button.setAttribute("aria-pressed", String(button.dataset.finding === id));
  dimOthers();
  const models = byId("instance-body").querySelector(".model-choice");
  await loadQuotes(id);
  for (const option of marks().length || !models ? [] : [...models.options]) {
    models.value = option.value;
    models.dispatchEvent(new Event("change", { bubbles: true }));
    await loadQuotes(id);
    if (marks().length) break;
  }
  if (scroll) nextMark();
}
/* Loads the runs that are shown as far as what a finding quotes. */
function loadQuotes(id) {
  const lists = [...byId("instance-body").querySelectorAll(".run .messages")];
  return Promise.all(lists.map((list) => list.showQuotes(id))).catch((error) => say(error.message, true));
}
function nextMark() {
  const all = marks();
  if (!data.seen) return say("The quotes of the checks unfold after your verdict.");
  if (!all.length) return say("This finding quotes nothing of the task.");
  mark = (mark + 1) % all.length;
  const shown = all[mark];
  if (shown.closest("details")) shown.closest("details").open = true;
  shown.scrollIntoView({ block: "center" });
  all.forEach((each) => each.classList.toggle("current", each === shown));
}

/* The verdict */
const form = byId("verdict");
const field = (name) => form?.elements[name];
let digits = "";
function answer(flaw) {
  if (byId("bulk")) byId("bulk").elements.answer.value = { yes: "true", no: "false", cannot_tell: "arguable" }[flaw];
  if (!form) return;
  if (byId("change")) byId("change").open = true;
  field("flaw").value = flaw;
  if (flaw !== "yes") form.querySelectorAll("[name=category]").forEach((each) => (each.checked = false));
  say({ yes: field("category") ? "Flawed. Choose the category, then Enter." : "Flawed. Enter saves.", no: "Not flawed. Enter saves.", cannot_tell: "Cannot tell. Enter saves." }[flaw]);
}
function digit(key) {
  if (!field("category")) return;
  digits = digits.length === 1 ? digits + key : key;
  byId("typed").textContent = digits.length === 1 ? `${digits} …` : "";
  if (digits.length < 2) return;
  const category = data.categories[digits];
  if (!category) return say(`No category has the keys ${digits}.`, true);
  answer("yes");
  field("category").value = category;
  say(`Flawed: ${form.querySelector(`[name=category][value="${CSS.escape(category)}"]`).nextElementSibling.textContent}. Enter saves.`);
}
function cycle(name) {
  if (!field(name)) return;
  const all = [...form.querySelectorAll(`[name=${name}]`)];
  const next = all[(all.findIndex((each) => each.checked) + 1) % all.length];
  next.checked = true;
  say(`${name}: ${next.nextElementSibling.textContent}`);
}
function about(kind, more = {}) {
  return { kind, target: "task", target_id: data.task, listed_by_checks: Boolean(data.listed_by_checks), ...more };
}
function saveVerdict() {
  const flaw = field("flaw").value;
  if (!flaw) return say("Say first whether the task is flawed: y, n or u.", true);
  const flawed = flaw === "yes";
  if (flawed && field("category")?.value === "") return say("A flaw needs a category: two digits, or choose one in the list.", true);
  const asked = ["confidence", "reason", ...(flawed ? ["category", "severity"] : [])].filter(field); // a queue may ask for few
  const given = Object.fromEntries(asked.map((name) => [name, field(name).value.trim()]));
  return send([about("verdict", { data: { flaw, ...given, seconds: seconds() } })]).then(reload, () => {});
}
const reload = () => location.reload();
function saveSentence() {
  const reason = byId("why-text").value.trim();
  if (!reason) return;
  const { blind, ...before } = data.own;
  send([about("verdict", { data: { ...before, reason } })]).then(reload, () => {});
}
function reveal() {
  if (data.task && !data.seen) send([about("reveal")]).then(reload, () => {});
}
function decideFinding(button) {
  const given = { answer: button.dataset.answer, seconds: seconds() };
  send([{ kind: "finding_verdict", target: "finding", target_id: button.dataset.about, data: given }]).then(reload, () => {});
}

/* Causes, disputes, repairs */
function decideAll() {
  const bulk = byId("bulk");
  const chosen = [...new FormData(bulk).getAll("finding")];
  const given = { answer: bulk.elements.answer.value, reason: bulk.elements.reason.value.trim() };
  if (!given.answer) return say("Choose an answer first: y, u or n.", true);
  if (!chosen.length) return say("Choose at least one finding.", true);
  send(chosen.map((id) => ({ kind: "finding_verdict", target: "finding", target_id: id, data: given }))).then(reload, () => {});
}
function adjudicate(sheet) {
  const { target, id } = sheet.dataset;
  const final = { [target === "task" ? "flaw" : "answer"]: sheet.elements.final.value, reason: sheet.elements.reason.value.trim() };
  send([{ kind: "adjudication", target, target_id: id, data: final }]).then(reload, () => {});
}
function assign() {
  if (!data.plan.length) return say("There is nothing to assign.", true);
  const events = data.plan.map(([task_id, reviewer]) => ({ kind: "assignment", target: "task", target_id: task_id, data: { reviewer } }));
  send(events).then(reload, () => {});
}
async function tryPatch() {
  say("Trying the patch in a copy of the benchmark …");
  const answer = await fetch(data.repair, {
    method: "POST",
    headers: { "content-type": "application/json", "x-csrf-token": data.csrf },
    body: JSON.stringify({ task: data.task, finding: data.finding, patch: byId("patch-text").value }),
  });
  const text = await answer.text();
  if (!answer.ok) return say(text.startsWith("{") ? JSON.parse(text).error : text.trim(), true);
  byId("trial").replaceWith(document.adoptNode(new DOMParser().parseFromString(text, "text/html").getElementById("trial")));
  const accept = document.querySelector('[data-repair="accepted"]');
  if (accept) accept.disabled = byId("trial").dataset.accepted !== "yes";
  say("Tried.");
}
function decideRepair(outcome) {
  const reason = byId("repair-reason").value.trim();
  const patch = outcome === "accepted" ? { patch: byId("patch-text").value } : {}; // as text: JSON.parse would round numbers
  send([about("repair", { data: { outcome, finding: data.finding, ...patch, reason } })]).then(reload, () => {});
}
function copyIssue() {
  getSelection().selectAllChildren(byId("issue"));
  say(document.execCommand("copy") ? "The issue is on the clipboard." : "Selected: press Ctrl+C.");
}

/* Keys */
const isTyping = (node) => /^(TEXTAREA|SELECT)$/.test(node.tagName) || (node.tagName === "INPUT" && !/^(radio|checkbox)$/.test(node.type));
function step(by) {
  if (data.task || data.cause) return go(by > 0 ? data.next : data.previous);
  const all = [...document.querySelectorAll(".row-link")];
  const at = all.indexOf(document.activeElement);
  all[at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(Math.max(at + by, 0), all.length - 1)]?.focus();
}
function enter(event) {
  if (!(form || data.task || data.cause) || event.target.closest("a, button, summary")) return;
  event.preventDefault();
  if (data.cause) return byId("bulk")?.elements.answer.value ? decideAll() : step(1);
  if (!form || (data.own && !byId("change").open)) return step(1);
  saveVerdict();
}
function search() {
  if (!byId("search")) return go(data.queue);
  byId("search").focus();
  byId("search").select();
}
const KEYS = {
  j: () => step(1),
  k: () => step(-1),
  y: () => answer("yes"),
  n: () => answer("no"),
  u: () => answer("cannot_tell"),
  s: () => cycle("severity"),
  c: () => cycle("confidence"),
  b: reveal,
  e: () => data.task && nextMark(),
  t: () => document.querySelector('.part-of[aria-label="Runs"]')?.scrollIntoView(),
  x: () => go(document.querySelector("a.to-repair")?.href),
  z: undoLast,
  "/": search,
  "?": () => byId("keys").showModal(),
};
document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && event.ctrlKey) return event.target.form?.requestSubmit();
  if (event.key === "Escape" && isTyping(event.target)) return event.target.blur();
  if (isTyping(event.target) || event.ctrlKey || event.metaKey || event.altKey || byId("keys").open) return;
  if (event.key === "Enter") return enter(event);
  if (/^[1-9]$/.test(event.key) && form) return event.preventDefault(), digit(event.key);
  const action = KEYS[event.key];
  if (!action) return;
  event.preventDefault();
  action();
});
document.addEventListener("submit", (event) => {
  const { target } = event;
  if (target.id === "filters") return;
  event.preventDefault();
  ({ verdict: saveVerdict, why: saveSentence, bulk: decideAll, patch: tryPatch })[target.id]?.();
  if (target.matches(".adjudicate")) adjudicate(target);
});
document.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  if (button.id === "help") byId("keys").showModal();
  if (button.id === "keys-close") byId("keys").close();
  if (button.id === "reveal") reveal();
  if (button.id === "undo-last") undoLast();
  if (button.id === "assign") assign();
  if (button.id === "copy-issue") copyIssue();
  if (button.dataset.answer) decideFinding(button);
  if (button.dataset.repair) decideRepair(button.dataset.repair);
  if (button.dataset.undo)
    undo([{ id: button.dataset.undo, target: button.dataset.undoTarget ?? "task", target_id: button.dataset.undoId ?? data.task }]).then(reload, () => {});
});
byId("filters")?.addEventListener("change", (event) => {
  if (event.target.tagName !== "SELECT") return;
  for (const each of [...byId("filters").elements]) if (!each.value) each.disabled = true;
  byId("filters").submit();
});
document.addEventListener("input", (event) => {
  if (event.target.id === "patch-text") document.querySelector('[data-repair="accepted"]')?.setAttribute("disabled", "");
});
if (data.shown) drawTask();
if (data.repair && byId("patch-text").value) tryPatch();
const said = sessionStorage.getItem("said");
sessionStorage.removeItem("said");
listen();
flush();
if (said) say(said);
