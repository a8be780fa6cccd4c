/* One task, drawn from the plain data of reports/instance.py: renderInstance(task, blocks) needs nothing of the page
   but el() and proofBlock(). `blocks` holds the texts that `task.parts` name by number. */
function marked(pieces) {
  return pieces.map((piece) =>
    typeof piece === "string" ? piece : el("mark", { "data-of": piece[1].join(" ") }, piece[0]),
  );
}
function hasMark(block) {
  return block.text.some((piece) => typeof piece !== "string");
}
function blockNode(block, alone) {
  const text = el("pre", { tabindex: "0", "aria-label": block.title }, ...marked(block.text));
  const place = block.place ? el("span", { class: "where" }, block.place) : null;
  if (block.kind === "tool")
    return el(
      "details",
      { class: "block kind-tool", open: alone || hasMark(block) },
      el("summary", {}, el("code", {}, block.title), " ", place),
      text,
    );
  return el(
    "figure",
    { class: `block kind-${block.kind}` },
    el("figcaption", {}, el("strong", {}, block.title), " ", place),
    text,
  );
}
function partNode(part, blocks) {
  const own = part.blocks.map((number) => blocks[number]);
  return el(
    "section",
    { class: `part-of ${part.key}`, "aria-label": part.title },
    el("h3", {}, el("span", { class: "dot", "aria-hidden": "true" }, "■ "), part.title),
    part.note ? el("p", { class: "small muted" }, part.note) : null,
    ...own.map((block) => blockNode(block, own.length <= 2)),
  );
}
const OUTCOME = { true: ["keep", "✓", "passed"], false: ["drop", "✕", "failed"], null: ["unchecked", "–", "not scored"] };
function messageNode(message) {
  const name = message.name ? `${message.role} ${message.name}` : message.role;
  const empty = !message.text.length && !message.calls.length;
  return el(
    "li",
    { class: `message ${message.role}` },
    el("span", { class: "role" }, name),
    message.text.length ? el("pre", { tabindex: "0", "aria-label": name }, ...marked(message.text)) : null,
    ...message.calls.map((call) => el("pre", { class: "call", tabindex: "0", "aria-label": "call" }, "→ ", ...marked(call))),
    empty ? el("span", { class: "muted" }, "(empty)") : null,
  );
}
function runNode(run) {
  const [action, glyph, words] = OUTCOME[run.passed];
  return el(
    "div",
    { class: "run" },
    el(
      "h4",
      {},
      el("span", { class: `glyph ${action}`, "aria-hidden": "true" }, `${glyph} `),
      `${words}, trial ${run.trial + 1}`,
    ),
    el("p", { class: "small where" }, [run.id, run.place, run.status].filter(Boolean).join(" · ")),
    run.messages.length
      ? el("ol", { class: "messages" }, ...run.messages.map(messageNode))
      : el("p", { class: "small muted" }, "The log holds no messages of this run."),
    run.more ? el("p", { class: "small muted" }, `${plural(run.more, "more message")} in the log.`) : null,
  );
}
function runsNode(models) {
  const area = el("div", { class: "runs" });
  const show = (i) => area.replaceChildren(...models[i].runs.map(runNode));
  const choice = el(
    "select",
    { class: "button model-choice", onchange: (event) => show(Number(event.target.value)) },
    ...models.map((m, i) => el("option", { value: i }, `${m.model}: ${m.passed} of ${m.scored} passed`)),
  );
  show(0);
  return el(
    "section",
    { class: "part-of", "aria-label": "Runs" },
    el("h3", {}, "Runs"),
    el("p", {}, el("label", {}, "Model ", choice)),
    area,
  );
}
/* Each call of the ground truth with what its tool answered when the audit executed it. */
function stepNode(step, turns) {
  const facts = [turns ? `turn ${step.turn + 1}` : "", step.changed ? "changes the state" : ""].filter(Boolean);
  return el(
    "li",
    { class: "message" },
    step.failed ? el("span", { class: "failed" }, "✕ fails ") : null,
    facts.length ? el("span", { class: "role" }, facts.join(" · ")) : null,
    el("pre", { class: "call", tabindex: "0", "aria-label": "call" }, `→ ${step.call}`),
    el("pre", { class: "answer", tabindex: "0", "aria-label": step.failed ? "error" : "response" }, step.response || "(empty)"),
    step.more ? el("p", { class: "small muted" }, `${plural(step.more, "more character")}`) : null,
  );
}
function goldReplay(replay) {
  const turns = replay.steps.some((step) => step.turn);
  return el(
    "section",
    { class: "part-of ground_truth", "aria-label": "Ground truth executed" },
    el("h3", {}, el("span", { class: "dot", "aria-hidden": "true" }, "■ "), "Ground truth executed"),
    el("p", { class: "small muted" }, `What the tools answered, step by step, in ${replay.environment}.`),
    el("ol", { class: "messages steps" }, ...replay.steps.map((step) => stepNode(step, turns))),
    replay.more ? el("p", { class: "small muted" }, `${plural(replay.more, "more call")}.`) : null,
  );
}
function renderInstance(task, blocks) {
  const proofs = task.findings.filter((finding) => finding.proof);
  const replay = proofs.map((finding) =>
    el("div", { class: "replay" }, el("p", { class: "small" }, finding.claim), proofBlock(finding.proof)),
  );
  return el(
    "div",
    { class: "parts" },
    ...(replay.length
      ? [el("section", { class: "part-of", "aria-label": "Replay" }, el("h3", {}, "Replay"), ...replay)]
      : []),
    ...task.parts.flatMap((part) => [
      partNode(part, blocks),
      ...(task.replay && part.key === "ground_truth" ? [goldReplay(task.replay)] : []),
    ]),
    task.models.length ? runsNode(task.models) : null,
  );
}
