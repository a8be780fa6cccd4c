/* One leaderboard at a time; without a script all are shown below one another. */
const board = byId("board");
function showBoard() {
  for (const part of document.querySelectorAll("[data-board]")) part.hidden = part.dataset.board !== board.value;
}
if (board) {
  board.closest(".bar").hidden = false;
  board.addEventListener("change", showBoard);
  showBoard();
}
