/* Commands that can be copied. A page opened from disk has no clipboard of its own, so the browser's command is used;
   where even that is refused, the text stays selected. */
function copyButton(code) {
  const button = el(
    "button",
    {
      type: "button",
      class: "plain small",
      onclick: () => {
        const text = code.textContent;
        getSelection().selectAllChildren(code);
        const exact = (event) => {
          event.clipboardData.setData("text/plain", text);
          event.preventDefault();
        };
        document.addEventListener("copy", exact, { once: true });
        const done = document.execCommand("copy");
        document.removeEventListener("copy", exact);
        button.textContent = done ? "Copied" : "Selected: press Ctrl+C";
        setTimeout(() => (button.textContent = "Copy"), 2500);
      },
    },
    "Copy",
  );
  return button;
}
function command(text) {
  const code = el("code", { tabindex: "0" }, text);
  return el("div", { class: "command" }, code, copyButton(code));
}
function proofBlock(proof) {
  const attempt = proof.calls.map(([turn, call]) => el("li", {}, el("span", { class: "muted" }, `turn ${turn} `), call));
  const said = proof.replies.map((reply) => el("li", {}, el("span", { class: "muted" }, "says "), reply));
  return el(
    "div",
    { class: "proof" },
    command(proof.command),
    el("pre", { class: "output", tabindex: "0", "aria-label": "What the command prints" }, proof.output),
    attempt.length + said.length
      ? el("details", {}, el("summary", {}, `The attempt: ${plural(attempt.length, "call")}`), el("ol", {}, ...attempt, ...said))
      : null,
  );
}
for (const code of document.querySelectorAll(".command > code")) code.after(copyButton(code));
