"use strict";
(() => {
  const root = document.documentElement;
  const night = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : night.matches);
  const toggle = document.getElementById("theme");
  const themed = () => { toggle.textContent = isDark() ? "Light" : "Dark"; };
  toggle.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    try { localStorage.setItem("kgroups-theme", root.dataset.theme); } catch (error) { /* private */ }
    themed();
  });
  themed();
  night.addEventListener("change", themed);
  addEventListener("beforeprint", () => {
    for (const each of document.querySelectorAll("details")) each.open = true;
  });

  // Tables. Keys are compared as numbers if all of a column are numbers; rows without a value are last in both directions.
  const sort = (head) => {
    const table = head.closest("table");
    const at = head.cellIndex;
    const rows = [...table.tBodies[0].rows].map((row) => ({ row, key: row.cells[at].dataset.key ?? row.cells[at].textContent }));
    const present = rows.filter(({ key }) => key !== "–");
    const numeric = present.every(({ key }) => key !== "" && Number.isFinite(Number(key)));
    const before = head.getAttribute("aria-sort");
    const down = before ? before === "ascending" : numeric;
    const compare = numeric
      ? (one, other) => Number(one.key) - Number(other.key)
      : (one, other) => (one.key < other.key ? -1 : one.key > other.key ? 1 : 0);
    present.sort((one, other) => (down ? -compare(one, other) : compare(one, other)));
    table.tBodies[0].append(...present.map(({ row }) => row), ...rows.filter(({ key }) => key === "–").map(({ row }) => row));
    for (const each of table.tHead.rows[0].cells) each.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
  };
  for (const head of document.querySelectorAll("th:has(button)"))
    head.querySelector("button").addEventListener("click", () => sort(head));
})();
