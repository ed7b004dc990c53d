"use strict";
// A table sorts by the buttons in its head; equal cells keep their order.
const announcement = document.getElementById("announcement");
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
    announcement.textContent = `sorted by ${button.textContent}, ${order}`;
  });
}
// The table below shows the rows of one family, cost and scaling, and the columns of one measure.
for (const choice of document.querySelectorAll("select[data-choice]")) {
  choice.addEventListener("change", () => {
    const section = choice.closest("section");
    const table = section.querySelector("table");
    const heads = [...table.tHead.rows[0].cells].map((each) => each.textContent);
    const select = (name) => section.querySelector(`select[data-choice=${name}]`);
    const measures = [...select("measure").options].map((each) => each.textContent);
    // places, differences, intervals and ranks are of the measure that the page is by, its first
    const [measure, by] = [select("measure").value, heads.find((each) => measures.includes(each))];
    const of = ["place", "difference", "adjusted", "mean rank"];
    const others = measure === "" ? [] : [...measures.filter((each) => each !== measure), ...(measure === by ? [] : of)];
    const [family, seconds, scaling] = ["family", "seconds", "scaling"].map((name) => select(name).value);
    for (const row of table.rows) {
      heads.forEach((head, i) => { row.cells[i].hidden = others.includes(head); });
      const cell = (name) => row.cells[heads.indexOf(name)];
      const kinds = [cell("family").textContent, ...cell("kind").textContent.split(", ")];
      row.hidden = row.parentNode === table.tBodies[0] && (
        (family !== "" && !kinds.includes(family)) ||
        (seconds !== "" && !(Number(cell("seconds").dataset.value) <= Number(seconds))) ||
        (scaling !== "" && cell("scaling").textContent !== scaling));
    }
    announcement.textContent = `${choice.dataset.choice}: ${choice.value || "all"}`;
  });
}
// On paper nothing can be opened, so all of it is.
addEventListener("beforeprint", () => {
  for (const each of document.querySelectorAll("details")) each.open = true;
});
