// Sizes of the phases, as in figure 7 of paper A: how evenly a partition shares out the elements.

export interface Bars {
  /** Middle of each bar, as a number of a phase. */
  at: number[];
  /** Mean number of elements of the phases of a bar. */
  height: number[];
  /** Phases to a bar. */
  width: number;
}

/** One bar a phase, or, where there are more than `most`, one for several neighbors. */
export function barsOf(sizes: readonly number[], most: number): Bars {
  const width = Math.max(1, Math.ceil(sizes.length / most));
  const at: number[] = [];
  const height: number[] = [];
  for (let first = 0; first < sizes.length; first += width) {
    const group = sizes.slice(first, first + width);
    at.push(first + (group.length - 1) / 2);
    height.push(group.reduce((sum, size) => sum + size, 0) / group.length);
  }
  return { at, height, width };
}

/** Largest phase over the mean: 1 is perfectly even. */
export function imbalance(sizes: readonly number[]): number {
  const sum = sizes.reduce((total, size) => total + size, 0);
  return sum === 0 ? 1 : (Math.max(...sizes) * sizes.length) / sum;
}
