// Contract: waits grow up to a limit, the socket lies beside the page and takes its token along,
// numbers are short, and of several files the scene is the one that is loaded.

import { describe, expect, it } from "vitest";
import { mainFile } from "./commands";
import { liveAddress, waitBefore } from "./connection";
import { milliseconds, short } from "./format";
import { Signal } from "./signal";

describe("connection", () => {
  it("waits longer and longer, but not forever", () => {
    expect([0, 1, 2, 3, 4, 5, 50].map(waitBefore)).toEqual([
      250, 500, 1000, 2000, 4000, 4000, 4000,
    ]);
  });

  it("lies beside the page", () => {
    expect(liveAddress("http://127.0.0.1:8288/")).toBe("ws://127.0.0.1:8288/live");
    expect(liveAddress("https://host/cloth/?token=x#y")).toBe("wss://host/cloth/live?token=x");
  });
});

describe("numbers", () => {
  it("are short", () => {
    expect([0, 7.125, 999, 1000, 12345678, -2500].map(short)).toEqual([
      "0",
      "7.13",
      "999",
      "1.00 k",
      "12.3 M",
      "−2.50 k",
    ]);
    expect(milliseconds(1.234)).toBe("1.23 ms");
    expect(milliseconds(123.4)).toBe("123 ms");
  });
});

describe("files", () => {
  it("are led by the scene", () => {
    expect(mainFile(["a.obj", "s.TOML", "b.obj"])).toBe("s.TOML");
    expect(mainFile(["b.obj"])).toBe("b.obj");
    expect(mainFile(["notes.txt"])).toBeUndefined();
  });
});

describe("signals", () => {
  it("tell of changes only, until told to stop", () => {
    const signal = new Signal(1);
    const seen: number[] = [];
    const stop = signal.watch((value) => seen.push(value));
    signal.set(1);
    signal.set(2);
    stop();
    signal.set(3);
    expect(seen).toEqual([1, 2]);
  });
});
