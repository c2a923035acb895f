// The results of Prometheus as data frames of Grafana, with the field configuration of a panel.
import {
  applyFieldOverrides,
  cacheFieldDisplayNames,
  FieldColorModeId,
  FieldConfigOptionsRegistry,
  FieldType,
  identityOverrideProcessor,
  standardTransformers,
  ThresholdsMode,
} from "@grafana/data";
import { of } from "rxjs";

// What Grafana's panels use where a dashboard sets nothing. Their plugins have these values; the libraries do not.
const THRESHOLDS = {
  mode: ThresholdsMode.Absolute,
  steps: [
    { value: -Infinity, color: "green" },
    { value: 80, color: "red" },
  ],
};
const DEFAULTS = {
  stat: { thresholds: THRESHOLDS },
  table: { thresholds: THRESHOLDS },
  timeseries: {
    thresholds: THRESHOLDS,
    color: { mode: FieldColorModeId.PaletteClassic },
    custom: { drawStyle: "line", lineWidth: 1, fillOpacity: 0, pointSize: 5, showPoints: "auto", axisGridShow: true },
  },
};

export function fieldConfig(panel) {
  const { defaults, overrides } = panel.fieldConfig;
  const base = DEFAULTS[panel.type];
  const thresholds = restored(defaults.thresholds ?? base.thresholds);
  return { defaults: { ...base, ...defaults, thresholds, custom: { ...base.custom, ...defaults.custom } }, overrides };
}

// JSON has no infinity: the first step of thresholds is null there.
function restored({ mode, steps }) {
  return { mode, steps: steps.map((step) => ({ ...step, value: step.value ?? -Infinity })) };
}

export function frames(panel, results, step, theme) {
  const config = fieldConfig(panel);
  const data = panel.targets.flatMap((target) =>
    target.format === "table" ? table(results[target.refId], target) : series(results[target.refId], target, step),
  );
  const drawn = applyFieldOverrides({
    data: transformed(panel.transformations ?? [], data),
    fieldConfig: config,
    fieldConfigRegistry: registry(config.defaults),
    replaceVariables: (text) => text,
    theme,
    timeZone: "utc",
  });
  cacheFieldDisplayNames(drawn); // the headers of a table
  return drawn;
}

const TRANSFORMERS = { organize: standardTransformers.organizeFieldsTransformer };

function transformed(transformations, data) {
  const context = { interpolate: (text) => text };
  const steps = transformations.map(({ id, options }) => TRANSFORMERS[id].operator(options, context));
  let result;
  steps.reduce((frames, step) => frames.pipe(step), of(data)).subscribe((frames) => (result = frames));
  return result;
}

// Without a registry, no option of a panel is applied; with this one, all are.
function registry({ custom, ...standard }) {
  const option = (path, isCustom) => ({
    id: isCustom ? `custom.${path}` : path,
    path,
    name: path,
    isCustom,
    process: identityOverrideProcessor,
    shouldApply: () => true,
  });
  return new FieldConfigOptionsRegistry(() => [
    ...Object.keys(standard).map((path) => option(path, false)),
    ...Object.keys(custom).map((path) => option(path, true)),
  ]);
}

// Each sample has a time: GraphNG makes a gap where a step has no sample.
function series(results, target, step) {
  return results.map(({ metric, values, value }) => {
    const samples = values ?? [value];
    return {
      refId: target.refId,
      length: samples.length,
      fields: [
        field("Time", FieldType.time, samples.map(([time]) => time * 1000), { interval: step * 1000 }),
        {
          ...field("Value", FieldType.number, samples.map(([, text]) => number(text)), {
            displayNameFromDS: legend(target.legendFormat, metric),
          }),
          labels: metric,
        },
      ],
    };
  });
}

function table(results, target) {
  if (!results.length) {
    return [];
  }
  const labels = [...new Set(results.flatMap(({ metric }) => Object.keys(metric)))].sort();
  return [
    {
      refId: target.refId,
      length: results.length,
      fields: [
        field("Time", FieldType.time, results.map(({ value }) => value[0] * 1000)),
        ...labels.map((name) => field(name, FieldType.string, results.map(({ metric }) => metric[name] ?? ""))),
        field("Value", FieldType.number, results.map(({ value }) => number(value[1]))),
      ],
    },
  ];
}

function field(name, type, values, config = {}) {
  return { name, type, values, config };
}

// A sample of Prometheus is a text. NaN and infinite values are unknown, never 0.
function number(text) {
  const value = Number(text);
  return Number.isFinite(value) ? value : null;
}

function legend(format, labels) {
  if (format) {
    return format.replace(/\{\{\s*(.+?)\s*\}\}/g, (_, name) => labels[name] ?? "");
  }
  const { __name__: name = "", ...rest } = labels;
  return `${name}{${Object.entries(rest).map(([key, value]) => `${key}="${value}"`).join(", ")}}`;
}
