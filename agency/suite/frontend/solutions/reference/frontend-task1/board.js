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

document.addEventListener("DOMContentLoaded", () => {
  const table = make("table", document.getElementById("board"), "");
  make("caption", table, "Departures");
  const heads = make("tr", make("thead", table, ""), "");
  for (const column of COLUMNS) make("th", heads, column).scope = "col";
  fill(make("tbody", table, ""), inOrder(window.DEPARTURES));
});
