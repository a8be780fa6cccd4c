/* One task, drawn from the plain data of reports/instance.py: renderInstance(task, blocks) needs nothing of the page
   but el() and proofBlock(). `blocks` holds the texts that `task.parts` name by number. Where a page has `load(run,
   start, whole)`, which promises the messages of a run from a place on, long runs can be read to their end. */
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
const FOLDED = 240;
const isMarked = (message) => [message.text, ...message.calls].some((pieces) => pieces.some((piece) => typeof piece !== "string"));
/* A long text that no finding quotes, in a run of which others are quoted, is folded to its beginning. */
function folded(text, node) {
  const start = text.map(String).join("").slice(0, 90).replace(/\s+/g, " ");
  return el("details", {}, el("summary", { class: "small muted" }, `${start} …`), node);
}
function messageNode(message, whole, fold) {
  const name = message.name ? `${message.role} ${message.name}` : message.role;
  const empty = !message.text.length && !message.calls.length;
  const long = message.text.map((piece) => piece.length).reduce((sum, length) => sum + length, 0) > FOLDED;
  const text = message.text.length ? el("pre", { tabindex: "0", "aria-label": name }, ...marked(message.text)) : null;
  return el(
    "li",
    { class: `message ${message.role}` },
    el("span", { class: "role" }, name),
    fold && long && !isMarked(message) ? folded(message.text, text) : text,
    ...message.calls.map((call) => el("pre", { class: "call", tabindex: "0", "aria-label": "call" }, "→ ", ...marked(call))),
    empty ? el("span", { class: "muted" }, "(empty)") : null,
    message.cut && whole ? el("button", { type: "button", class: "button small", onclick: whole }, "Show all of it") : null,
  );
}
/* Adds the next messages to a run, once for all that ask at the same time. */
function loadNext(run, load) {
  const added = ({ messages, more }) => (run.messages.push(...messages), (run.more = more));
  run.loading ??= load(run, run.messages.length, false).then(added).finally(() => (run.loading = null));
  return run.loading;
}
/* The messages of a run, and what loads those that are not shown yet. */
function messageList(run, load) {
  const list = el("ol", { class: "messages" });
  const trouble = el("span", { class: "small", role: "status" });
  const button = el("button", { type: "button", class: "button", onclick: () => next().catch(failed) });
  const rest = el("p", {}, button, " ", trouble);
  const failed = (error) => (trouble.textContent = error.message);
  const quoted = run.messages.some(isMarked) || (run.later ?? []).length > 0;
  const node = (message, place, fold = quoted) =>
    messageNode(message, load && ((event) => whole(place, event.target.closest("li")).catch(failed)), fold);
  async function whole(place, shown) {
    const [message] = (await load(run, place, true)).messages;
    run.messages[place] = message;
    const fresh = node(message, place, false);
    shown.replaceWith(fresh);
    fresh.querySelector("pre").focus();
  }
  async function next() {
    await loadNext(run, load);
    const drawn = list.children.length;
    const fresh = run.messages.slice(drawn).map((message, i) => node(message, drawn + i));
    const pressed = document.activeElement === button;
    list.append(...fresh);
    list.dispatchEvent(new Event("change", { bubbles: true }));
    tell();
    if (pressed && !run.more) fresh[0]?.querySelector("pre")?.focus({ preventScroll: true });
  }
  function tell() {
    trouble.textContent = "";
    button.textContent = `Show more messages (${run.messages.length} of ${run.messages.length + run.more} shown)`;
    rest.hidden = !run.more;
  }
  list.append(...run.messages.map((message, place) => node(message, place)));
  tell();
  /* Loads as far as the quotes of a finding. */
  list.showQuotes = async (finding) => {
    const last = Math.max(-1, ...run.later.filter(([name]) => name === finding).map(([, place]) => place));
    while (load && run.more && run.messages.length <= last) await next();
  };
  return load ? [list, rest] : [list, run.more ? el("p", { class: "small muted" }, `${plural(run.more, "more message")} in the log.`) : null];
}
function runNode(run, load) {
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
    run.page ? el("p", {}, el("a", { href: run.page }, "Graph of this run, call by call")) : null,
    el("p", { class: "small where" }, [run.id, run.place, run.status].filter(Boolean).join(" · ")),
    ...(run.messages.length
      ? messageList(run, load)
      : [el("p", { class: "small muted" }, "The log holds no messages of this run.")]),
  );
}
function runsNode(models, load) {
  const area = el("div", { class: "runs" });
  const show = (i) => area.replaceChildren(...models[i].runs.map((run) => runNode(run, load)));
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
function renderInstance(task, blocks, load = null) {
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
    task.models.length ? runsNode(task.models, load) : null,
  );
}
