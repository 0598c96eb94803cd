// Contract: quality falls where pictures take too long and rises where there is room, without going to
// and fro; what a user asks for is kept; at rest a picture is full.

import { describe, expect, it } from "vitest";
import {
  Chooser,
  Detail,
  GRADES,
  isQuality,
  Rhythm,
  SOFTWARE_MS,
  TRAITS,
  type Grade,
} from "./quality";

/** A machine on which each grade takes half the time of the one before; the grades it went through. */
function draw(chooser: Chooser, fullMs: number, pictures: number): Grade[] {
  const grades = [chooser.grade];
  for (let i = 0; i < pictures; i += 1) {
    const took = fullMs / 2 ** GRADES.indexOf(chooser.grade);
    if (chooser.took(took)) grades.push(chooser.grade);
  }
  return grades;
}

describe("the chosen quality", () => {
  it("stays full where pictures are fast", () => {
    expect(draw(new Chooser(0), 12, 1000)).toEqual(["full"]);
  });

  it("is not lowered by single slow pictures", () => {
    const chooser = new Chooser(0);
    for (let i = 0; i < 500; i += 1) chooser.took(i % 5 === 0 ? 900 : 8);
    expect(chooser.grade).toBe("full");
  });

  it("falls until pictures are fast enough, and stays there", () => {
    expect(draw(new Chooser(0), 60, 2000)).toEqual(["full", "high", "medium"]);
  });

  it("falls faster where pictures are far too slow, and no deeper than there is", () => {
    expect(draw(new Chooser(0), 5000, 40)).toEqual(["full", "medium", "least"]);
  });

  it("rises step by step where there is room", () => {
    expect(draw(new Chooser(GRADES.length - 1), 4, 500)).toEqual([...GRADES].reverse());
  });

  it("rises again when a load is gone", () => {
    const chooser = new Chooser(0);
    draw(chooser, 300, 100);
    expect(chooser.grade).toBe("least");
    draw(chooser, 8, 500);
    expect(chooser.grade).toBe("full");
  });

  it("tries in vain ever more rarely", () => {
    // Coarse pictures promise room that finer ones do not have.
    const chooser = new Chooser(GRADES.indexOf("low"));
    let trials = 0;
    for (let i = 0; i < 20_000; i += 1) {
      const grade = chooser.grade;
      if (chooser.took(grade === "low" ? 5 : 60) && chooser.grade === "medium") trials += 1;
    }
    expect(trials).toBeGreaterThan(5);
    expect(trials).toBeLessThan(25);
  });
});

describe("detail", () => {
  const detailOf = (quality: "auto" | Grade) => {
    const chooser = new Chooser(GRADES.indexOf("low"));
    return { chooser, detail: new Detail(chooser, () => quality) };
  };

  it("is full at rest, once, and coarse as soon as something moves", () => {
    const { detail } = detailOf("auto");
    detail.changed(1000);
    expect([detail.refine(1100), detail.grade]).toEqual([false, "low"]);
    expect([detail.refine(1400), detail.grade]).toEqual([true, "full"]);
    expect(detail.refine(1500)).toBe(false);
    detail.changed(1600);
    expect(detail.grade).toBe("low");
  });

  it("is what a user asks for, moving or not", () => {
    const { chooser, detail } = detailOf("medium");
    detail.changed(0);
    for (let i = 0; i < 100; i += 1) detail.took(500);
    expect([detail.refine(9000), detail.grade, chooser.grade]).toEqual([false, "medium", "low"]);
  });
});

describe("grades", () => {
  it("get coarser in everything", () => {
    for (const [i, grade] of GRADES.slice(1).entries()) {
      const [finer, own] = [TRAITS[GRADES[i] ?? "full"], TRAITS[grade]];
      expect(own.scale).toBeLessThanOrEqual(finer.scale);
      expect(own.triangles).toBeLessThan(finer.triangles);
      expect(own.shadows?.size ?? 0).toBeLessThanOrEqual(finer.shadows?.size ?? 0);
    }
  });

  it("are known by their names", () => {
    expect(["auto", "low", "best", "", null].map(isQuality)).toEqual([
      true,
      true,
      false,
      false,
      false,
    ]);
  });
});

describe("the rhythm of pictures", () => {
  const TICK = 1000 / 60;

  /** When pictures begin, on a screen with 60 a second, where the next one takes so long. */
  function begins(rhythm: Rhythm, ticks: number, tookMs: (picture: number) => number): number[] {
    const starts: number[] = [];
    for (let [tick, free] = [1, 0]; tick <= ticks; tick += 1) {
      const now = tick * TICK;
      if (now < free || rhythm.wait(now) > 0) continue;
      const took = tookMs(starts.length);
      starts.push(now);
      free = now + took;
      rhythm.took(now, took);
    }
    return starts;
  }

  it("is that of the screen where pictures are fast", () => {
    expect(begins(new Rhythm(), 600, () => 5)).toHaveLength(600);
  });

  it("leaves time between slow pictures", () => {
    // 70 ms of 100 ms.
    expect(Math.abs(begins(new Rhythm(), 600, () => 70).length - 100)).toBeLessThanOrEqual(1);
    expect(new Rhythm().wait(5)).toBe(0);
  });

  it("pauses for a moment only, however long pictures take", () => {
    const rhythm = new Rhythm();
    rhythm.took(1000, 600_000);
    expect(rhythm.wait(601_000)).toBeLessThan(200);
  });

  it("has no more than 32 pictures a second where the processor draws", () => {
    expect(begins(new Rhythm(SOFTWARE_MS), 600, () => 12).length).toBeCloseTo(320, -1);
    // Two ticks each.
    expect(begins(new Rhythm(SOFTWARE_MS), 600, () => 22)).toHaveLength(300);
  });

  it("is not disturbed by single slow pictures, nor hurries after a long rest", () => {
    const starts = begins(new Rhythm(SOFTWARE_MS), 600, (i) => (i % 4 === 3 ? 45 : 15));
    expect(starts.length).toBeGreaterThan(300);
    const rhythm = new Rhythm(SOFTWARE_MS);
    rhythm.took(-60_000, 12);
    expect(begins(rhythm, 60, () => 12).length).toBeLessThan(35);
  });
});
