"use strict";
(() => {
  const root = document.documentElement;
  const night = matchMedia("(prefers-color-scheme: dark)");
  const { dark, charts } = JSON.parse(document.getElementById("figures").textContent);
  const figures = [...document.querySelectorAll("figure[data-chart]")];
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : night.matches);

  // Figures have colors of the light theme; replace values of color properties only, never names.
  const colored = (value, key, theme) => {
    if (Array.isArray(value)) return value.map((each) => colored(each, key, theme));
    if (value && typeof value === "object")
      return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, colored(each, name, theme)]));
    return theme && typeof value === "string" && /color$/.test(key) ? (dark[value] ?? value) : value;
  };

  const shown = (figure) => {
    const off = new Set();
    for (const button of figure.querySelectorAll(".legend [aria-pressed=false]"))
      for (const trace of button.dataset.traces.split(" ")) off.add(Number(trace));
    return off;
  };

  const draw = (figure, theme = isDark()) => {
    const plot = figure.querySelector(".plot");
    const { data, layout } = colored(charts[figure.dataset.chart], "", theme);
    const off = shown(figure);
    data.forEach((trace, number) => (trace.visible = !off.has(number)));
    layout.datarevision = Math.random();
    if (plot.layout?.xaxis) layout.xaxis.range = [...plot.layout.xaxis.range];
    if (plot.clientWidth < 480) layout.xaxis.nticks = 4;
    // On touch screens, dragging scrolls the page.
    layout.dragmode = matchMedia("(pointer: coarse)").matches ? false : "zoom";
    return Plotly.react(plot, data, layout, { displayModeBar: false, doubleClick: "reset" });
  };

  // The saved image includes the legend, which is outside the plot on the page.
  const save = (figure, format) => {
    const plot = figure.querySelector(".plot");
    const title = figure.querySelector("h3").textContent;
    const { data, layout } = colored(charts[figure.dataset.chart], "", isDark());
    const off = shown(figure);
    const kept = data.filter((_, number) => !off.has(number));
    layout.xaxis.range = [...plot.layout.xaxis.range];
    layout.showlegend = true;
    layout.title = {
      text: title, font: { size: 16, color: layout.hoverlabel.font.color },
      x: 0, xanchor: "left", y: 1, yanchor: "top", pad: { l: 8, t: 14 },
    };
    layout.margin = { ...layout.margin, t: 72, b: 52 };
    const height = layout.height + 80 + 10 * kept.length;
    layout.height = height;
    const filename = `kgroups-${figure.dataset.chart}`;
    const width = Math.max(1000, plot.clientWidth);
    return Plotly.downloadImage({ data: kept, layout }, { format, filename, width, height, scale: format === "png" ? 2 : 1 });
  };

  const acts = {
    png: (figure) => save(figure, "png"),
    svg: (figure) => save(figure, "svg"),
    reset: (figure) => Plotly.relayout(figure.querySelector(".plot"), {
      "xaxis.range": [...charts[figure.dataset.chart].layout.xaxis.range],
    }),
  };

  // Observe the card, not only the window: a scroll bar or printing changes its width too.
  const sized = new ResizeObserver((entries) => {
    for (const { target } of entries) if (target.clientWidth) Plotly.Plots.resize(target);
  });

  for (const figure of figures) {
    draw(figure);
    sized.observe(figure.querySelector(".plot"));
    for (const button of figure.querySelectorAll("[data-act]"))
      button.addEventListener("click", () => acts[button.dataset.act](figure));
    for (const button of figure.querySelectorAll(".legend button"))
      button.addEventListener("click", () => {
        button.setAttribute("aria-pressed", String(button.getAttribute("aria-pressed") === "false"));
        draw(figure);
      });
  }

  const toggle = document.getElementById("theme");
  const themed = () => {
    toggle.textContent = isDark() ? "Light" : "Dark";
    for (const figure of figures) draw(figure);
  };
  toggle.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    try { localStorage.setItem("kgroups-theme", root.dataset.theme); } catch (error) { /* private */ }
    themed();
  });
  toggle.textContent = isDark() ? "Light" : "Dark";
  night.addEventListener("change", themed);
  addEventListener("beforeprint", () => {
    for (const each of document.querySelectorAll("details")) each.open = true;
    for (const figure of figures) draw(figure, false);
  });
  addEventListener("afterprint", themed);

  // Tables. Keys are compared as numbers if all of a column are numbers; rows without a key are last in both directions.
  const sort = (head) => {
    const table = head.closest("table");
    const at = head.cellIndex;
    const rows = [...table.tBodies[0].rows].map((row) => ({ row, key: row.cells[at].dataset.key }));
    const present = rows.filter(({ key }) => key !== undefined);
    const numeric = present.every(({ key }) => key !== "" && Number.isFinite(Number(key)));
    const before = head.getAttribute("aria-sort");
    const down = before ? before === "ascending" : numeric;
    const compare = numeric
      ? (one, other) => Number(one.key) - Number(other.key)
      : (one, other) => (one.key < other.key ? -1 : one.key > other.key ? 1 : 0);
    present.sort((one, other) => (down ? -compare(one, other) : compare(one, other)));
    table.tBodies[0].append(...present.map(({ row }) => row), ...rows.filter(({ key }) => key === undefined).map(({ row }) => row));
    for (const each of table.tHead.rows[0].cells) each.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
  };
  for (const head of document.querySelectorAll("th"))
    head.querySelector("button").addEventListener("click", () => sort(head));
})();
