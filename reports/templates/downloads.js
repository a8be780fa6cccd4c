/* Tables and the data of figures, saved as CSV. */

/* A spreadsheet runs text that starts like a formula; an apostrophe keeps it text. */
function csvCell(value) {
  if (value == null) return "";
  const number = typeof value === "number" || typeof value === "boolean" || (value !== "" && !isNaN(value));
  const text = !number && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
function csvText(columns, rows) {
  return [columns, ...rows].map((row) => row.map(csvCell).join(",")).join("\r\n") + "\r\n";
}
function download(name, columns, rows) {
  const url = URL.createObjectURL(new Blob(["\ufeff", csvText(columns, rows)], { type: "text/csv;charset=utf-8" }));
  el("a", { href: url, download: `${data.file}-${name}.csv` }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

/* A header names its columns in data-csv; a cell holds their values in data-value and data-more, or says why not. */
function tableRows(table) {
  const heads = [...table.tHead.rows[0].cells].map((head) => (head.dataset.csv ? head.dataset.csv.split(" ") : []));
  const rows = [...table.tBodies[0].rows].map((row) => {
    const found = [];
    let column = 0;
    for (const cell of row.cells) {
      for (let i = 0; i < cell.colSpan; i++, column++) {
        const value = cell.dataset.value || cell.textContent.trim().replace(/\s+/g, " ");
        const more = cell.dataset.more ? cell.dataset.more.split(" ") : [];
        heads[column].forEach((_, k) => found.push(k === 0 ? value : (more[k - 1] ?? "")));
      }
    }
    return found;
  });
  return [heads.flat(), rows];
}
for (const button of document.querySelectorAll("[data-download]"))
  button.addEventListener("click", () =>
    download(button.dataset.download, ...tableRows(byId(`table-${button.dataset.download}`))),
  );
for (const button of document.querySelectorAll("[data-download-figure]")) {
  const name = button.dataset.downloadFigure;
  button.addEventListener("click", () => download(`figure-${name}`, data.figures[name].columns, data.figures[name].rows));
}
