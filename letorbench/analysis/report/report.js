"use strict";
// A table sorts by the button in its head; equal cells keep their order.
const said = document.getElementById("said");
for (const button of document.querySelectorAll("th button")) {
  button.addEventListener("click", () => {
    const head = button.closest("th");
    const table = head.closest("table");
    const column = head.cellIndex;
    const first = head.dataset.first || "descending";
    const other = first === "descending" ? "ascending" : "descending";
    const order = head.getAttribute("aria-sort") === first ? other : first;
    for (const each of table.tHead.rows[0].cells) each.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", order);
    const sign = order === "ascending" ? 1 : -1;
    const value = (row) => row.cells[column].dataset.value ?? row.cells[column].textContent;
    const body = table.tBodies[0];
    const rows = [...body.rows].sort((a, b) => {
      const [x, y] = [value(a), value(b)];
      if (x === "" || y === "") return (x === "") - (y === "");
      const [p, q] = [Number(x), Number(y)];
      const both = !Number.isNaN(p) && !Number.isNaN(q);
      return sign * (both ? p - q : x.localeCompare(y));
    });
    body.append(...rows);
    said.textContent = `sorted by ${button.textContent}, ${order}`;
  });
}
// On paper nothing can be opened, so all of it is.
addEventListener("beforeprint", () => {
  for (const each of document.querySelectorAll("details")) each.open = true;
});
