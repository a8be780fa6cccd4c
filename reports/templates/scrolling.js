/* A table or figure that is wider than its place says that it can be moved sideways. */
const widths = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    const wide = target.scrollWidth > target.clientWidth + 1;
    const before = target.previousElementSibling;
    const hint = before?.classList.contains("hint") ? before : null;
    if (wide && !hint) target.before(el("p", { class: "hint small muted" }, "Scroll sideways to see all of it →"));
    else if (hint) hint.hidden = !wide;
  }
});
document.querySelectorAll(".scroll").forEach((node) => widths.observe(node));
