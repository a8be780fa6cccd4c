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
  return { rows, row, column, lanterns: places(rows, "*"), status: "playing", moves: 0 };
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
  return { ...state, row, column, lanterns, status, moves: state.moves + 1 };
}

module.exports = { start, move };
