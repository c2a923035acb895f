// Draw a dashboard, from its JSON and the results of its queries, with the panel components of Grafana.
// ?name=NAME&theme=light|dark: reads NAME.json, which docs/site/dashboard_pictures.py writes.
import { createTheme, dateTime, getDisplayValueAlignmentFactors, getFieldDisplayValues, ThemeContext } from "@grafana/data";
import { BigValue, GlobalStyles, PanelChrome, TimeSeries, VizRepeater } from "@grafana/ui";
import { TableNG } from "@grafana/ui/unstable";
import { createRoot } from "react-dom/client";
import { fieldConfig, frames } from "./frames";

const COLUMNS = 24, ROW = 30, GAP = 8, HEADER = 64, MARGIN = 16;

function Stat({ panel, data, width, height, theme, range }) {
  const { reduceOptions, textMode } = panel.options;
  const values = () =>
    getFieldDisplayValues({
      fieldConfig: fieldConfig(panel), reduceOptions, replaceVariables: (text) => text, theme, data,
      sparkline: true, timeZone: "utc",
    });
  const draw = ({ value: { display, sparkline }, alignmentFactors, width, height, count }) => (
    <BigValue
      value={display} count={count} sparkline={sparkline && { ...sparkline, timeRange: range }} theme={theme}
      width={width} height={height} alignmentFactors={alignmentFactors} textMode={textMode}
      colorMode="value" graphMode="area" justifyMode="auto"
    />
  );
  return (
    <VizRepeater
      getValues={values} getAlignmentFactors={getDisplayValueAlignmentFactors} renderValue={draw} source={data}
      width={width} height={height} itemSpacing={3} orientation="auto" autoGrid renderCounter={0}
    />
  );
}

const LEGEND = { showLegend: true, displayMode: "list", placement: "bottom", calcs: [] };

function Graph({ data, width, height, range }) {
  return <TimeSeries frames={data} width={width} height={height} timeRange={range} timeZone="utc" legend={LEGEND} />;
}

function Rows({ panel, data, width, height }) {
  return (
    <TableNG
      data={data[0]} width={width} height={height} fieldConfig={panel.fieldConfig} noValue={panel.fieldConfig.defaults.noValue}
    />
  );
}

const VIEWS = { stat: Stat, timeseries: Graph, table: Rows };

function Content({ panel, results, step, ...place }) {
  const View = VIEWS[panel.type];
  if (!View) {
    return <Message>{`not drawn: panel type ${panel.type}`}</Message>;
  }
  const data = frames(panel, results, step, place.theme);
  // Grafana shows the same text in a graph or a table without data; BigValue shows it itself.
  if (!data.length && panel.type !== "stat") {
    return <Message>{panel.fieldConfig.defaults.noValue ?? "No data"}</Message>;
  }
  return <View panel={panel} data={data} {...place} />;
}

function Message({ children }) {
  return <div style={{ display: "grid", placeItems: "center", height: "100%" }}>{children}</div>;
}

function Panel({ panel, results, undrawn, step, range, theme, column }) {
  const { x, y, w, h } = panel.gridPos;
  const place = { position: "absolute", left: x * column, top: y * (ROW + GAP) };
  const note = undrawn.length ? 20 : 0;
  return (
    <div style={place}>
      <PanelChrome
        title={panel.title} description={panel.description} padding={panel.type === "table" ? "none" : "md"}
        width={w * column - GAP} height={h * (ROW + GAP) - GAP}
      >
        {(width, height) => (
          <>
            <div style={{ height: height - note }}>
              <Content {...{ panel, results, step, range, theme, width, height: height - note }} />
            </div>
            {note > 0 && <small>not drawn: {undrawn.join(", ")}</small>}
          </>
        )}
      </PanelChrome>
    </div>
  );
}

function Page({ dashboard, variables, results, undrawn, range: [from, to], step, theme }) {
  const column = (window.innerWidth - 2 * MARGIN + GAP) / COLUMNS;
  const range = { from: dateTime(from * 1000), to: dateTime(to * 1000), raw: { from: "", to: "" } };
  const note = undrawn.dashboard.length ? `not drawn: ${undrawn.dashboard.join(", ")}` : "";
  return (
    <div style={{ padding: `0 ${MARGIN}px`, color: theme.colors.text.primary }}>
      <header style={{ height: HEADER, display: "flex", alignItems: "center", gap: 24 }}>
        <strong style={{ fontSize: theme.typography.h4.fontSize }}>{dashboard.title}</strong>
        {Object.entries(variables).map(([name, value]) => (
          <span key={name}><span style={{ color: theme.colors.text.secondary }}>{name}</span> {value}</span>
        ))}
        <small>{note}</small>
      </header>
      <div style={{ position: "relative" }}>
        {dashboard.panels.map((panel) => (
          <Panel
            key={panel.id} results={results[panel.id]} undrawn={undrawn[panel.id] ?? []}
            {...{ panel, step, range, theme, column }}
          />
        ))}
      </div>
    </div>
  );
}

const wanted = new URLSearchParams(window.location.search);
const data = await (await fetch(`${wanted.get("name")}.json`)).json();
const theme = createTheme({ colors: { mode: wanted.get("theme") } });
createRoot(document.getElementById("dashboard")).render(
  <ThemeContext.Provider value={theme}>
    <GlobalStyles />
    <Page {...data} theme={theme} />
  </ThemeContext.Provider>,
);
