/* A recorded run of an escape room: the graph by state, with a slider over the calls. */
const SIGNS = { unseen: "–", seen: "○", looked: "◔", resolved: "●", refused: "✕", early: "!" };
const WIDTH = 190, HEIGHT = 46, GAP = 64, STEP = 66;

function svg(tag, props = {}, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, value] of Object.entries(props)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}
const clip = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
const left = (part) => 16 + part.column * (WIDTH + GAP);
const top_ = (part) => 16 + part.row * STEP;

const places = new Map(data.parts.map((part) => [part.id, part]));
const boxes = new Map();
const lines = [];

function draw() {
  const graph = byId("graph");
  const across = 32 + (1 + Math.max(...data.parts.map((p) => p.column))) * (WIDTH + GAP) - GAP;
  const down = 32 + (1 + Math.max(...data.parts.map((p) => p.row))) * STEP - (STEP - HEIGHT);
  for (const [name, value] of Object.entries({ width: across, height: down, viewBox: `0 0 ${across} ${down}` })) {
    graph.setAttribute(name, value);
  }
  for (const link of data.links) {
    const from = places.get(link.source), to = places.get(link.target);
    const x = left(from) + WIDTH, y = top_(from) + HEIGHT / 2, u = left(to), v = top_(to) + HEIGHT / 2;
    const bend = Math.max(GAP / 2, (u - x) / 2);
    const line = svg("path", { d: `M${x} ${y} C${x + bend} ${y} ${u - bend} ${v} ${u} ${v}` });
    if (link.trigger) line.classList.add("trigger");
    line.append(svg("title", {}, `${link.source}: ${link.text} of ${link.target}`));
    lines.push([line, link]);
    graph.append(line);
  }
  for (const part of data.parts) {
    const title = svg("text", { x: left(part) + 8, y: top_(part) + 19 });
    const more = svg("text", { x: left(part) + 8, y: top_(part) + 36, class: "small" }, clip(part.template, 28));
    const box = svg("rect", { x: left(part), y: top_(part), width: WIDTH, height: HEIGHT, rx: 6 });
    const group = svg("g", {}, box, title, more, svg("title", {}, part.brief));
    boxes.set(part.id, [group, title]);
    graph.append(group);
  }
}

function show(at) {
  const step = data.steps[at];
  byId("step").value = at;
  byId("back").disabled = at === 0;
  byId("on").disabled = at === data.steps.length - 1;
  for (const [id, [group, title]] of boxes) {
    const state = step.states[id];
    group.setAttribute("class", `${state}${id === step.part ? " now" : ""}`);
    title.textContent = `${SIGNS[state]} ${id} (${places.get(id).kind})`;
  }
  for (const [line, link] of lines) line.classList.toggle("lit", link.target === step.part && step.call.startsWith("use_"));
  const done = Object.values(step.states).filter((state) => state === "resolved").length;
  const where = at ? `${at} of ${data.steps.length - 1}, turn ${step.turn}` : "before the first call";
  byId("where").textContent = `${where}: ${done} of ${data.parts.length} resolved`;
  byId("title").textContent = at ? `${step.call}${step.part ? ` of ${step.part}` : ""}: ${step.ok ? "carried out" : "refused"}` : "The call";
  byId("arguments").textContent = step.arguments;
  byId("answer").textContent = step.answer;
}

const go = (at) => show(Math.min(Math.max(at, 0), data.steps.length - 1));
draw();
byId("step").addEventListener("input", (event) => go(Number(event.target.value)));
byId("back").addEventListener("click", () => go(Number(byId("step").value) - 1));
byId("on").addEventListener("click", () => go(Number(byId("step").value) + 1));
go(0);
