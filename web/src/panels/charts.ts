// Live charts: residuals, time per stage, particles per second, sizes of the phases.

import { barsOf, imbalance } from "../charts/histogram";
import { History, positive, stacked } from "../charts/history";
import { BarChart, LineChart, seriesColor, type Ink } from "../charts/plots";
import { hex } from "../color/oklab";
import { GRAY, partitionColors } from "../color/palette";
import { milliseconds, short, whole } from "../format";
import type { Stats } from "../protocol";
import type { State } from "../state";
import { fill, make, panel, select, setValue } from "./dom";

/** A minute at ten values a second. */
const CAPACITY = 600;
const MOST_BARS = 64;
/** Charts are drawn this often: more cannot be read, and pictures need the time, the first one most. */
const PERIOD_MS = 250;

export function chartsPanel(state: State): HTMLElement {
  const updates: (() => void)[] = [];
  const histories = new Histories();
  const cards = [
    residualCard(state, histories, updates),
    stageCard(state, histories, updates),
    rateCard(state, histories, updates),
    phaseCard(state, updates),
  ];
  const element = panel("charts", "Charts", ...cards);
  const redraw = () => {
    for (const update of updates) update();
  };
  let timer = 0;
  const redrawLater = () => {
    timer ||= window.setTimeout(() => {
      timer = 0;
      redraw();
    }, PERIOD_MS);
  };
  state.stats.subscribe((stats) => {
    if (stats && histories.take(stats)) redrawLater();
  });
  state.scene.watch(redrawLater);
  state.theme.subscribe(redraw);
  state.look.subscribe(redraw);
  new ResizeObserver(redrawLater).observe(element);
  return element;
}

class Histories {
  readonly residual = new History(CAPACITY);
  readonly stages = new History(CAPACITY);
  readonly rate = new History(CAPACITY);
  private last: { generation: number; step: number } = { generation: -1, step: -1 };

  /** Whether there was something new: a paused simulation repeats itself. */
  take(stats: Stats): boolean {
    const { generation, step, time } = stats;
    if (generation === this.last.generation && step === this.last.step) return false;
    if (generation !== this.last.generation || step < this.last.step) this.clear();
    this.last = { generation, step };
    const rms = Object.entries(stats.residual).map(([kind, residual]) => [kind, residual.rms]);
    this.residual.push(time, Object.fromEntries(rms) as Record<string, number>);
    this.stages.push(time, stats.stage_ms);
    this.rate.push(time, { "particles per second": stats.particles_per_second });
    return true;
  }

  private clear(): void {
    for (const history of [this.residual, this.stages, this.rate]) history.clear();
  }
}

function card(title: string, ...extra: Node[]) {
  const value = make("span", { class: "value" });
  const plot = make("div", { class: "plot", role: "img", "aria-label": title });
  const key = make("ul", { class: "key" });
  const head = make("div", { class: "head" }, make("h3", {}, title), value);
  const element = make("article", { class: "card" }, head, ...extra, plot, key);
  return { element, plot, value, key };
}

function ink(state: State): Ink {
  return state.theme.value === "dark"
    ? { text: "#9aa4b0", grid: "#2c333c", accent: "#e08a6a" }
    : { text: "#5d6672", grid: "#dcdfe3", accent: "#b4532f" };
}

/** Names of the series in their colors; only made anew when they change. */
function keys(list: HTMLElement, names: string[]): void {
  const known = names.join("|");
  if (list.dataset.names === known) return;
  list.dataset.names = known;
  list.replaceChildren(
    ...names.map((name, i) => {
      const dot = make("i", {});
      dot.style.background = seriesColor(i);
      return make("li", {}, dot, name);
    }),
  );
}

function residualCard(state: State, { residual }: Histories, updates: (() => void)[]) {
  const { element, plot, value, key } = card("Residual (rms)");
  const chart = new LineChart(plot, { logarithmic: true });
  updates.push(() => {
    const { names } = residual;
    const columns = names.map((name) => positive(residual.column(name)));
    // A logarithmic scale needs a value to start from.
    if (!columns.some((column) => column.some((v) => v !== null))) return;
    chart.show(residual.times, names, columns, ink(state));
    const worst = Math.max(...names.map((name) => residual.column(name).at(-1) ?? 0));
    value.textContent = worst.toExponential(1);
    keys(key, names);
  });
  return element;
}

function stageCard(state: State, { stages }: Histories, updates: (() => void)[]) {
  const { element, plot, value, key } = card("Time per stage");
  const chart = new LineChart(plot, { filled: true });
  updates.push(() => {
    const { names } = stages;
    // Stages that take no time would only crowd the key.
    const shown = names.filter((name) => stages.column(name).some((v) => (v ?? 0) > 0.005));
    const layers = stacked(shown.map((name) => stages.column(name)));
    if (layers.length === 0) return;
    // The highest layer first: the lower ones are drawn over it.
    chart.show(stages.times, [...shown].reverse(), layers.reverse(), ink(state));
    value.textContent = milliseconds(state.stats.value?.ms_per_step ?? 0);
    keys(key, [...shown].reverse());
  });
  return element;
}

function rateCard(state: State, { rate }: Histories, updates: (() => void)[]) {
  const { element, plot, value } = card("Particles per second");
  const chart = new LineChart(plot, { filled: true });
  updates.push(() => {
    const { names } = rate;
    if (names.length === 0) return;
    const columns = names.map((name) => rate.column(name));
    chart.show(rate.times, names, columns, ink(state));
    value.textContent = short(state.stats.value?.particles_per_second ?? 0);
  });
  return element;
}

function phaseCard(state: State, updates: (() => void)[]) {
  const kind = select("histogram-kind", (value) =>
    state.setLook({ kind: Number(value), phase: 0 }),
  );
  kind.setAttribute("aria-label", "Kind of constraint");
  const facts = make("p", { class: "about", id: "partition-facts" });
  const { element, plot, value } = card("Elements per phase", kind);
  element.append(facts);
  const chart = new BarChart(plot);
  updates.push(() => {
    const kinds = state.scene.value?.kinds ?? [];
    fill(
      kind,
      kinds.map(({ kind: name }, i) => [String(i), name]),
    );
    setValue(kind, String(state.look.value.kind));
    const shown = kinds[state.look.value.kind];
    element.hidden = shown === undefined;
    if (!shown) return;
    const bars = barsOf(shown.sizes, MOST_BARS);
    const colors = partitionColors(shown.phases);
    chart.show(bars, (i) => hex(colors[i * bars.width] ?? GRAY), ink(state));
    value.textContent = whole(shown.elements);
    facts.textContent = `${whole(shown.phases)} phases (at least ${whole(shown.lower_bound)} without copies) · ${whole(shown.copies)} copies · imbalance ${imbalance(shown.sizes).toFixed(2)}`;
  });
  return element;
}
