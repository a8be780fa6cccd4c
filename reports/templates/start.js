const keysHint = byId("keys-button");
if (keysHint) keysHint.addEventListener("click", help);
byId("keys-close").addEventListener("click", () => byId("keys").close());
buildPanel();
for (const look of document.querySelectorAll(".look")) showMarks(look);
if (byId("decided")) buildDecisions();
function arrive() {
  const state = recall();
  if (byId("results")) {
    update();
    if (opened) byId(`finding-${opened}`)?.scrollIntoView();
  }
  if (state.has("task")) openTask(data.tasks.indexOf(state.get("task")), state.get("at"));
}
if (byId("results")) buildFilters();
arrive();
addEventListener("hashchange", () => {
  if (/[=]/.test(location.hash)) arrive();
});
