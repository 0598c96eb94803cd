// Contract: a quality that is asked for is kept; else it follows how long pictures take, told here by a
// clock that the test turns; at rest a picture is full, and nothing more is drawn.

import type { Page } from "@playwright/test";
import type { Grade } from "../src/scene3d/quality";
import { expect, frames, open, pause, settled, test } from "./fixtures";

declare global {
  interface Window {
    /** Seconds that the page sees in a second. */
    turnClock: (speed: number) => void;
    /** Qualities of the pictures since then, each time that it changed. */
    grades: Grade[];
    /** Draw calls so far. */
    drawCalls: number;
  }
}

const drawing = (page: Page) => page.evaluate(() => window.taut.drawing);
const quality = async (page: Page) => (await drawing(page)).quality;

/** Waits for a picture of this quality, and tells what it had. */
async function picture(page: Page, wanted: Grade) {
  let last = await drawing(page);
  await expect.poll(async () => (last = await drawing(page)).quality).toBe(wanted);
  return last;
}

test("a quality that is asked for is kept", async ({ page, server }) => {
  await server.start("cloth-on-tube");
  await open(page, server, "full");
  const full = await drawing(page);
  expect(full.quality).toBe("full");
  await expect(page.locator("#quality")).toHaveValue("full");
  const before = await frames(page);
  await expect.poll(() => frames(page)).toBeGreaterThan(before + 12);
  expect(await quality(page)).toBe("full");

  await page.locator("#quality").selectOption("low");
  const low = await picture(page, "low");
  expect(low.pixels).toBeLessThan(0.3 * full.pixels);
  expect(low.triangles).toBeLessThan(0.5 * full.triangles);
  await expect(page.locator(".status")).toContainText("low quality");
  // Nor does it become finer at rest.
  await pause(page);
  expect(await quality(page)).toBe("low");
});

test("quality follows how long pictures take", async ({ page, server }) => {
  await page.addInitScript(() => {
    const real = performance.now.bind(performance);
    let [speed, from, shown] = [1, 0, 0];
    performance.now = () => shown + speed * (real() - from);
    // However slow the clock is while a picture is drawn, it is time for the next one afterwards.
    const nextFrame = requestAnimationFrame.bind(window);
    window.requestAnimationFrame = (run) =>
      nextFrame((now) => {
        if (speed < 1) shown += 50;
        run(now);
      });
    window.turnClock = (next) => {
      [shown, from, speed] = [performance.now(), real(), next];
      window.grades = [];
    };
    const note = () => {
      const { taut, grades } = window as Partial<Window>;
      if (taut && grades?.at(-1) !== taut.drawing.quality) grades?.push(taut.drawing.quality);
      nextFrame(note);
    };
    note();
  });
  await server.start("cloth-on-tube");
  await open(page, server);
  // The first picture of a scene has all triangles, whatever its quality.
  const first = await frames(page);
  await expect.poll(() => frames(page)).toBeGreaterThan(first + 2);
  await page.evaluate(() => window.turnClock(100));
  const coarse = await picture(page, "least");
  // As if it were a fast machine.
  await page.evaluate(() => window.turnClock(0.01));
  await expect.poll(() => page.evaluate(() => window.grades)).toContain("high");
  const fine = await picture(page, "full");
  expect(await page.evaluate(() => window.grades.slice(-4))).toEqual([
    "low",
    "medium",
    "high",
    "full",
  ]);
  expect(fine.triangles).toBeGreaterThan(2 * coarse.triangles);
  expect(fine.pixels).toBeGreaterThan(3 * coarse.pixels);
  await page.evaluate(() => window.turnClock(100));
  await picture(page, "least");
});

test("at rest a picture is full, and drawn once", async ({ page, server }) => {
  await page.addInitScript(() => {
    window.drawCalls = 0;
    const { prototype } = WebGL2RenderingContext;
    // Called with its context below.
    // eslint-disable-next-line @typescript-eslint/unbound-method
    const { drawElements } = prototype;
    prototype.drawElements = function (...args) {
      window.drawCalls += 1;
      drawElements.apply(this, args);
    };
  });
  await server.start("cloth-on-tube");
  await open(page, server);
  await pause(page);
  await expect.poll(() => quality(page)).toBe("full");
  await settled(page);
  const calls = await page.evaluate(() => window.drawCalls);
  expect(calls).toBeGreaterThan(0);
  await page.evaluate(async () => {
    for (let i = 0; i < 40; i += 1) await new Promise(requestAnimationFrame);
  });
  expect(await page.evaluate(() => window.drawCalls)).toBe(calls);
});
