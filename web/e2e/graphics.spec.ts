// Contract: a graphics context that is lost while a picture is drawn takes nothing along: the picture comes
// when the context is back, is acknowledged, and the server goes on. What rests is copied into pictures,
// and looks as if it were drawn.

import type { Page } from "@playwright/test";
import { difference, expect, frames, open, pause, pixels, settled, step, test } from "./fixtures";

declare global {
  interface Window {
    /** Loses the context in the middle of the next picture; it comes back soon after. */
    loseNext: boolean;
    /** How often that was done. */
    losses: number;
  }
}

/** Runs in the page, before its own script. */
function loseOnDemand(): void {
  window.loseNext = false;
  window.losses = 0;
  const { prototype } = WebGL2RenderingContext;
  // Called with its context below.
  // eslint-disable-next-line @typescript-eslint/unbound-method
  const { fenceSync } = prototype;
  // The page asks for a fence behind all that it told the card to draw.
  prototype.fenceSync = function (...args) {
    const sync = fenceSync.apply(this, args);
    if (!window.loseNext) return sync;
    window.loseNext = false;
    window.losses += 1;
    const loss = this.getExtension("WEBGL_lose_context");
    loss?.loseContext();
    setTimeout(() => loss?.restoreContext(), 300);
    return sync;
  };
}

async function stepAndLose(page: Page, times: number): Promise<void> {
  const before = { step: await step(page), frames: await frames(page) };
  await page.evaluate(() => (window.loseNext = true));
  await page.locator("#step").click();
  await expect.poll(() => page.evaluate(() => window.losses)).toBe(times);
  await expect(page.locator(".notice")).toHaveCount(0);
  await expect.poll(() => frames(page)).toBe(before.frames + 1);
  expect(await step(page)).toBe(before.step + 1);
}

test("a picture that a lost context swallowed is drawn again", async ({ page, server }) => {
  await page.addInitScript(loseOnDemand);
  await server.start("cloth-on-tube", "--paused");
  // Not finer at rest: the next picture is that of the step.
  await open(page, server, "least");
  await settled(page);
  // As often as the server lets frames go without an answer.
  await stepAndLose(page, 1);
  await stepAndLose(page, 2);
  const before = await frames(page);
  await page.locator("#play").click();
  await expect.poll(() => frames(page)).toBeGreaterThan(before + 5);
});

test("what rests looks the same as if it were drawn", async ({ page, server }) => {
  await server.start("cloth-on-tube");
  await open(page, server, "least");
  await expect.poll(() => step(page)).toBeGreaterThan(100);
  await pause(page);
  const copied = await pixels(page);
  // In another light everything is drawn, and in the former one again.
  await page.keyboard.press("t");
  await page.waitForTimeout(500);
  const dark = await pixels(page);
  expect(difference(copied, dark)).toBeGreaterThan(0.5 * copied.colors.length);
  await page.keyboard.press("t");
  await page.waitForTimeout(500);
  expect(difference(copied, await pixels(page))).toBe(0);
});
