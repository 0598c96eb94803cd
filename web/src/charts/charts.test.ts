// Contract: charts forget the oldest values first, series that start late have gaps, layers add up,
// and a histogram has a bar for each phase as long as there is room.

import { describe, expect, it } from "vitest";
import { barsOf, imbalance } from "./histogram";
import { History, positive, stacked } from "./history";

describe("history", () => {
  it("keeps the newest values", () => {
    const history = new History(3);
    for (let i = 0; i < 5; i += 1) history.push(i, { a: 10 * i });
    expect(history.times).toEqual([2, 3, 4]);
    expect(history.column("a")).toEqual([20, 30, 40]);
  });

  it("leaves gaps where a series has no value", () => {
    const history = new History(9);
    history.push(0, { a: 1 });
    history.push(1, { a: 2, b: 5 });
    history.push(2, { b: 6 });
    expect(history.names).toEqual(["a", "b"]);
    expect(history.column("a")).toEqual([1, 2, null]);
    expect(history.column("b")).toEqual([null, 5, 6]);
    expect(history.column("c")).toEqual([null, null, null]);
  });

  it("starts over", () => {
    const history = new History(9);
    history.push(0, { a: 1 });
    history.clear();
    expect(history.times).toEqual([]);
    expect(history.names).toEqual([]);
  });
});

describe("layers", () => {
  it("add up", () => {
    expect(
      stacked([
        [1, 2],
        [10, null],
        [100, 100],
      ]),
    ).toEqual([
      [1, 2],
      [11, 2],
      [111, 102],
    ]);
  });

  it("of a logarithmic scale have no zeros", () => {
    expect(positive([1, 0, null, 1e-9])).toEqual([1, null, null, 1e-9]);
  });
});

describe("histogram", () => {
  it("has a bar for each phase", () => {
    expect(barsOf([5, 4, 3], 64)).toEqual({ at: [0, 1, 2], height: [5, 4, 3], width: 1 });
  });

  it("joins neighbors when there are too many", () => {
    expect(barsOf([4, 2, 3, 1, 9], 3)).toEqual({ at: [0.5, 2.5, 4], height: [3, 2, 9], width: 2 });
  });

  it("tells how even it is", () => {
    expect(imbalance([4, 4, 4])).toBe(1);
    expect(imbalance([6, 3, 3])).toBe(1.5);
    expect(imbalance([])).toBe(1);
  });
});
