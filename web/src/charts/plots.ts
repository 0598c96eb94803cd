// uPlot with the page's colors: one class for lines over time, one for the histogram.
// uPlot's enumerations exist in its types only, so their numbers are written here.
/* eslint-disable @typescript-eslint/no-unsafe-enum-assignment */

import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { hex } from "../color/oklab";
import { GRAY, partitionColors } from "../color/palette";
import { short } from "../format";
import type { Bars } from "./histogram";

export interface Ink {
  text: string;
  grid: string;
  accent: string;
}

const HEIGHT = 132;
const FONT = "11px system-ui, sans-serif";

function axes(ink: Ink, x: string): uPlot.Axis[] {
  const common = {
    stroke: ink.text,
    font: FONT,
    grid: { stroke: ink.grid, width: 1 },
    ticks: { stroke: ink.grid, width: 1, size: 3 },
  };
  const numbers = (_: uPlot, ticks: (number | null)[]) =>
    ticks.map((tick) => (tick === null ? "" : short(tick)));
  return [
    {
      ...common,
      size: 28,
      gap: 3,
      space: 48,
      values: (_, ticks) => ticks.map((tick) => `${Number(tick.toPrecision(6))}${x}`),
    },
    { ...common, size: 46, gap: 4, space: 24, values: numbers },
  ];
}

/** A chart with nothing around it: keys and values are beside it on the page. */
function bare(width: number) {
  return {
    width,
    height: HEIGHT,
    legend: { show: false },
    cursor: { show: false },
    padding: [8, 8, 0, 0] as uPlot.Padding,
  };
}

/** Colors of series: as far apart as those of partitions. */
export function seriesColor(index: number): string {
  const colors = partitionColors(8);
  return hex(colors[index % colors.length] ?? GRAY);
}

export interface LineOptions {
  logarithmic?: boolean;
  filled?: boolean;
}

/** A chart of several series over simulated time. It is made anew when its series change. */
export class LineChart {
  private plot: uPlot | null = null;
  private made = "";

  constructor(
    private readonly parent: HTMLElement,
    private readonly options: LineOptions = {},
  ) {}

  show(times: number[], names: string[], columns: (number | null)[][], ink: Ink): void {
    const width = this.parent.clientWidth;
    // A closed drawer has no width; the next values come soon.
    if (width === 0) return;
    const key = JSON.stringify([names, width, ink]);
    const data = [times, ...columns] as uPlot.AlignedData;
    if (key === this.made) this.plot?.setData(data);
    else this.make(key, width, names, data, ink);
  }

  private make(key: string, width: number, names: string[], data: uPlot.AlignedData, ink: Ink) {
    this.plot?.destroy();
    this.made = key;
    const { logarithmic, filled } = this.options;
    const series = names.map((label, i): uPlot.Series => {
      const color = names.length === 1 ? ink.accent : seriesColor(i);
      return {
        label,
        stroke: color,
        width: 1.5,
        points: { show: false },
        ...(filled ? { fill: names.length === 1 ? `${color}55` : color } : {}),
      };
    });
    const options: uPlot.Options = {
      ...bare(width),
      scales: {
        x: { time: false },
        y: logarithmic ? { distr: 3, range: decades } : { range: fromZero },
      },
      axes: axes(ink, " s").map((axis, i) => (logarithmic && i === 1 ? byDecade(axis) : axis)),
      series: [{}, ...series],
    };
    this.plot = new uPlot(options, data, this.parent);
  }
}

/** Decades that a logarithmic chart shows at most: before the first contact, errors are all but 0. */
const MOST_DECADES = 4;

function decades(_: uPlot, least: number | null, most: number | null): [number, number] {
  const top = Math.ceil(Math.log10(most ?? 1));
  const bottom = Math.floor(Math.log10(least ?? 0.1));
  return [10 ** Math.max(Math.min(bottom, top - 1), top - MOST_DECADES), 10 ** top];
}

/** Lines and labels at powers of ten only. */
function byDecade(axis: uPlot.Axis): uPlot.Axis {
  const filter = (_: uPlot, splits: number[]) =>
    splits.map((split) => (Number.isInteger(Number(Math.log10(split).toFixed(6))) ? split : null));
  return {
    ...axis,
    filter,
    space: 14,
    grid: { ...axis.grid, filter },
    ticks: { ...axis.ticks, filter },
    values: (_, splits) =>
      splits.map((split: number | null) => (split === null ? "" : split.toExponential(0))),
  };
}

function fromZero(_: uPlot, __: number | null, most: number | null): [number, number] {
  return [0, most !== null && most > 0 ? 1.08 * most : 1];
}

export class BarChart {
  private plot: uPlot | null = null;
  private made = "";

  constructor(private readonly parent: HTMLElement) {}

  show(bars: Bars, color: (index: number) => string, ink: Ink): void {
    const width = this.parent.clientWidth;
    if (width === 0) return;
    const key = JSON.stringify([bars, width, ink]);
    if (key === this.made) return;
    this.made = key;
    this.plot?.destroy();
    const colors = bars.at.map((_, i) => color(i));
    const last = (bars.at.at(-1) ?? 0) + bars.width / 2;
    const options: uPlot.Options = {
      ...bare(width),
      scales: {
        x: { time: false, range: [-0.5 * bars.width, last] },
        y: { range: fromZero },
      },
      axes: axes(ink, "").map((axis, i) =>
        i === 0 ? { ...axis, grid: { show: false }, incrs: [1, 2, 5, 10, 20, 50, 100, 500] } : axis,
      ),
      series: [{}, { paths: barPaths(colors), points: { show: false } }],
    };
    this.plot = new uPlot(options, [bars.at, bars.height], this.parent);
  }
}

/** Each bar in the color of its phase. */
function barPaths(colors: string[]): uPlot.Series.PathBuilder {
  const make = uPlot.paths.bars;
  if (!make) throw new Error("uPlot was built without bars");
  const values = () => colors;
  return make({
    size: [0.82, 64],
    disp: { fill: { unit: 3, values }, stroke: { unit: 3, values } },
  });
}
