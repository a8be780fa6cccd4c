"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const GLYPH = { confirmed: "●", suspected: "◐", signal: "○" };
const ACTIONS = [
  ["drop", "✕", "to drop"],
  ["review", "?", "to review"],
  ["keep", "✓", "kept"],
  ["unchecked", "–", "kept, unchecked"],
];
const number = (n) => n.toLocaleString("en-US");
const plural = (n, word) => `${number(n)} ${word}${n === 1 ? "" : "s"}`;
const byId = (id) => document.getElementById(id);

/* Every text reaches the page through here, as text: never as markup. */
function el(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(props)) {
    if (key === "class") node.className = value;
    else if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (value !== false && value != null) node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child != null));
  return node;
}
