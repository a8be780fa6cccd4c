if (byId("decided")) buildDecisions();
if (byId("results")) {
  if (matchMedia("(max-width: 62rem)").matches) byId("filters").open = false;
  recall();
  buildFilters();
  update();
  const reveal = () => opened && byId(`finding-${opened}`)?.scrollIntoView();
  reveal();
  addEventListener("hashchange", () => {
    if (/[=]/.test(location.hash)) {
      recall();
      update();
      reveal();
    }
  });
}
