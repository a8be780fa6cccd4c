"use strict";

const STEPS = { D: [1, 0], L: [0, -1], R: [0, 1], U: [-1, 0] };

function fail(code) {
  throw Object.assign(new Error(code), { code });
}

function places(rows, character) {
  return rows.flatMap((row, r) => [...row].flatMap((each, c) => (each === character ? [[r, c]] : [])));
}

function start(text) {
  const rows = text.replace(/\n$/, "").split("\n");
  if (rows.some((row) => row === "" || row.length !== rows[0].length)) fail("shape");
  if (!rows.every((row) => /^[#.o~*@E]+$/.test(row))) fail("character");
  const couriers = places(rows, "@");
  if (couriers.length !== 1) fail("courier");
  if (places(rows, "E").length !== 1) fail("exit");
  const [row, column] = couriers[0];
  return { rows, row, column, lanterns: places(rows, "*"), status: "playing", moves: 0, before: null };
}

function move(state, direction) {
  if (!Object.hasOwn(STEPS, direction)) fail("direction");
  const [down, right] = STEPS[direction];
  let { row, column, lanterns, status } = state;
  while (status === "playing") {
    const next = state.rows[row + down]?.[column + right] ?? "#";
    if (next === "#") break;
    row += down;
    column += right;
    lanterns = lanterns.filter((each) => each[0] !== row || each[1] !== column);
    if (next === "~") status = "lost";
    if (next === "E" && lanterns.length === 0) status = "won";
    if (next === "o") break;
  }
  if (row === state.row && column === state.column) return { ...state };
  return { ...state, row, column, lanterns, status, moves: state.moves + 1, before: state };
}

function play(text, notation) {
  if (!/^([ \n]*([1-9][0-9]?)?[DLRU])*[ \n]*$/.test(notation)) fail("notation");
  let state = start(text);
  for (const [, count, letter] of notation.matchAll(/([0-9]*)([DLRU])/g)) {
    for (let left = Number(count || 1); left > 0; left -= 1) state = move(state, letter);
  }
  return state;
}

function write(letters) {
  if (/[^DLRU]/.test(letters)) fail("notation");
  return letters.replace(/D{2,99}|L{2,99}|R{2,99}|U{2,99}/g, (run) => run.length + run[0]);
}

function render(state) {
  const cells = state.rows.map((row) => [...row.replace(/[@*]/g, ".")]);
  for (const [row, column] of state.lanterns) cells[row][column] = "*";
  if (state.lanterns.length > 0) {
    const [exit] = places(state.rows, "E");
    cells[exit[0]][exit[1]] = "e";
  }
  cells[state.row][state.column] = { playing: "@", lost: "X", won: "W" }[state.status];
  return cells.map((row) => row.join("")).join("\n");
}

function undo(state) {
  return state.before ?? state;
}

function score(state) {
  const lit = places(state.rows, "*").length - state.lanterns.length;
  if (state.status === "lost") return 0;
  if (state.status === "playing") return 5 * lit;
  return Math.max(100 + 10 * lit - 3 * state.moves, 1);
}

module.exports = { start, move, play, write, render };
