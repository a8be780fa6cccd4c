"use strict";

const { start, move } = require("./courier.js");

function key(state) {
  return JSON.stringify([state.row, state.column, state.lanterns]);
}

function search(first) {
  const seen = new Set();
  let layer = new Map([[key(first), { state: first, way: "", count: 1 }]]);
  if (first.status !== "playing") return null;
  while (layer.size > 0) {
    for (const each of layer.keys()) seen.add(each);
    const below = new Map();
    let best = null;
    for (const { state, way, count } of layer.values()) {
      for (const letter of "DLRU") {
        const next = move(state, letter);
        if (next.status === "won") best = { way: best?.way ?? way + letter, count: 1 };
        if (next.status !== "playing" || seen.has(key(next))) continue;
        const known = below.get(key(next));
        if (known) known.count += count;
        else below.set(key(next), { state: next, way: way + letter, count });
      }
    }
    if (best) return best;
    layer = below;
  }
  return null;
}

const solve = (text) => search(start(text))?.way ?? null;
const par = (text) => solve(text)?.length ?? null;
const count = (text) => search(start(text))?.count ?? 0;
const hint = (state) => search(state)?.way[0] ?? null;

module.exports = { solve, par, count, hint };
