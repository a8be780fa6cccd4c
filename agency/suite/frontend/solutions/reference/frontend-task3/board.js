"use strict";

const COLUMNS = ["Time", "Line", "To", "Platform", "Status"];

function make(tag, parent, text) {
  const element = document.createElement(tag);
  element.textContent = text;
  parent.append(element);
  return element;
}

function inOrder(departures) {
  return [...departures].sort((a, b) => (a.time === b.time ? a.id - b.id : a.time < b.time ? -1 : 1));
}

function timeOf(departure) {
  if (!departure.delay) return departure.time;
  const [hours, minutes] = departure.time.split(":").map(Number);
  const total = hours * 60 + minutes + departure.delay;
  const parts = [Math.floor(total / 60) % 24, total % 60];
  return `${departure.time} → ${parts.map((part) => String(part).padStart(2, "0")).join(":")}`;
}

function statusOf(departure) {
  if (departure.delay === null) return ["cancelled", "Cancelled"];
  return departure.delay === 0 ? ["on-time", "On time"] : ["delayed", `Delayed ${departure.delay} min`];
}

function fill(body, departures) {
  body.replaceChildren();
  for (const departure of departures) {
    const row = make("tr", body, "");
    const [status, text] = statusOf(departure);
    row.dataset.status = status;
    for (const cell of [timeOf(departure), departure.line, departure.to, departure.platform, text]) make("td", row, cell);
  }
  if (departures.length === 0) make("td", make("tr", body, ""), "No departures").colSpan = 5;
}

function compare(a, b) {
  return a < b ? -1 : Number(a > b);
}

const KEYS = [
  (each) => each.time,
  (each) => each.line,
  (each) => each.to,
  (each) => each.platform,
  (each) => each.delay ?? Infinity,
];

function control(parent, tag, id, label) {
  const text = make("label", parent, label);
  const element = make(tag, parent, "");
  text.htmlFor = element.id = id;
  return element;
}

document.addEventListener("DOMContentLoaded", () => {
  const board = document.getElementById("board");
  const all = inOrder(window.DEPARTURES);
  const line = control(board, "select", "line", "Line");
  const search = control(board, "input", "search", "Destination");
  const count = make("p", board, "");
  count.id = "count";
  count.role = "status";
  make("option", line, "All lines").value = "";
  for (const each of new Set(all.map((each) => each.line).sort())) make("option", line, each);
  const table = make("table", board, "");
  make("caption", table, "Departures");
  const row = make("tr", make("thead", table, ""), "");
  const body = make("tbody", table, "");
  const order = { column: 0, down: false };

  function read() {
    const given = new URLSearchParams(location.hash.slice(1));
    search.value = given.get("search") ?? "";
    line.value = given.get("line") ?? "";
    if (line.selectedIndex < 0) line.value = "";
    order.column = Math.max(COLUMNS.map((column) => column.toLowerCase()).indexOf(given.get("sort")), 0);
    order.down = given.get("down") === "1";
    show();
  }

  function write() {
    const now = new URLSearchParams();
    if (line.value) now.set("line", line.value);
    if (search.value) now.set("search", search.value);
    if (order.column > 0) now.set("sort", COLUMNS[order.column].toLowerCase());
    if (order.down) now.set("down", "1");
    history.replaceState(null, "", `#${now}`);
    show();
  }

  function show() {
    const text = search.value.trim().toLowerCase();
    const found = all.filter((each) => ["", each.line].includes(line.value) && each.to.toLowerCase().includes(text));
    const key = KEYS[order.column];
    found.sort((a, b) => (order.down ? compare(key(b), key(a)) : compare(key(a), key(b))));
    fill(body, found);
    count.textContent = `${found.length} of ${all.length} departures`;
    for (const head of row.cells) head.removeAttribute("aria-sort");
    row.cells[order.column].setAttribute("aria-sort", order.down ? "descending" : "ascending");
  }

  COLUMNS.forEach((column, at) => {
    const head = make("th", row, "");
    head.scope = "col";
    make("button", head, column).addEventListener("click", () => {
      order.down = order.column === at && !order.down;
      order.column = at;
      write();
    });
  });
  line.addEventListener("change", write);
  search.addEventListener("input", write);
  search.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key !== "Escape") return;
    search.value = "";
    write();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/") return;
    event.preventDefault();
    search.focus();
  });
  window.addEventListener("hashchange", read);
  read();
});
