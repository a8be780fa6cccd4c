/* Keys: j and k go through the findings, Enter opens one and then its task, e its evidence. */
const isTyping = (node) => /^(INPUT|TEXTAREA|SELECT)$/.test(node.tagName);
function stops() {
  return [...document.querySelectorAll(".look, .finding > summary")].filter((node) => node.checkVisibility());
}
function go(step) {
  const all = stops();
  const here = document.activeElement.closest(".look, .finding");
  const at = all.findIndex((node) => node === here || node.parentElement === here);
  const next = all[at < 0 ? (step > 0 ? 0 : all.length - 1) : at + step];
  if (!next) return;
  next.focus();
  next.scrollIntoView({ block: "nearest" });
}
function enter(event) {
  const look = document.activeElement.closest(".look");
  const row = document.activeElement.closest(".finding");
  if (look && document.activeElement === look) {
    event.preventDefault(); // else the same key would press the button that gets the focus: "close"
    look.querySelector("a[data-task]")?.click();
  } else if (row?.open && document.activeElement === row.firstElementChild) {
    const finding = data.findings.find((f) => row.id === `finding-${f.id}`);
    if (openTask(firstTask(finding), finding.id)) event.preventDefault();
  }
}
function evidence() {
  const here = document.activeElement.closest(".look, .finding");
  if (!here) return go(1);
  const next = () => {
    const quotes = [...here.querySelectorAll(".quote pre")];
    quotes[(quotes.indexOf(document.activeElement) + 1) % quotes.length]?.focus();
  };
  if (here.tagName !== "DETAILS" || here.open) return next();
  here.addEventListener("toggle", next, { once: true });
  here.open = true;
}
function search() {
  byId("search")?.focus();
  byId("search")?.select();
}
function tasks() {
  byId("tasks").scrollIntoView();
  byId("which")?.focus({ preventScroll: true });
}
function help() {
  if (!byId("keys").open) byId("keys").showModal();
}
const KEYS = { j: () => go(1), k: () => go(-1), e: evidence, t: tasks, "/": search, "?": help, Enter: enter };
const PANEL_KEYS = { j: () => nextFinding(1), k: () => nextFinding(-1), e: nextMark, "?": help };
document.addEventListener("keydown", (event) => {
  if (isTyping(event.target) || event.ctrlKey || event.metaKey || event.altKey || byId("keys").open) return;
  const action = (byId("instance").open ? PANEL_KEYS : KEYS)[event.key];
  if (!action) return;
  if (event.key !== "Enter") event.preventDefault();
  action(event);
});
