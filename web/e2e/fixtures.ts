// What every test needs: a server of its own, a page on it, and the promise that the browser's
// console stays free of errors.

import { test as base, expect, type Page } from "@playwright/test";
import type {} from "../src/inspect";
import type { Quality } from "../src/scene3d/quality";
import { freePort, TautServer } from "./server";

interface Fixtures {
  server: TautServer;
  /** Console errors that this test provokes, such as those of a server that is gone. */
  provoked: RegExp[];
  quiet: undefined;
}

export const test = base.extend<Fixtures>({
  // Playwright insists on the braces.
  // eslint-disable-next-line no-empty-pattern
  server: async ({}, use) => {
    const server = new TautServer(await freePort());
    await use(server);
    await server.stop();
  },
  // eslint-disable-next-line no-empty-pattern
  provoked: async ({}, use) => {
    await use([]);
  },
  quiet: [
    async ({ context, provoked }, use) => {
      const errors: string[] = [];
      context.on("console", (message) => {
        if (message.type() === "error") errors.push(message.text());
      });
      context.on("weberror", (error) => errors.push(String(error.error())));
      await use(undefined);
      const surprising = errors.filter((text) => !provoked.some((known) => known.test(text)));
      expect(surprising, "errors in the browser's console").toEqual([]);
    },
    { auto: true },
  ],
});

export { expect };

/**
 * Opens the page and waits for the first picture. Tests that compare pixels ask for full quality: what
 * the page chooses itself depends on the machine.
 */
export async function open(page: Page, server: TautServer, quality?: Quality): Promise<void> {
  await page.goto(server.url + (quality === undefined ? "" : `?quality=${quality}`));
  await expect.poll(() => page.evaluate(() => window.taut.drawing.frames)).toBeGreaterThan(0);
}

export const step = (page: Page) => page.evaluate(() => window.taut.stats?.step ?? -1);
export const place = (page: Page, point: number) =>
  page.evaluate((i) => window.taut.place(i), point);
export const frames = (page: Page) => page.evaluate(() => window.taut.drawing.frames);
export const running = (page: Page) => page.evaluate(() => window.taut.stats?.running);

/** Pauses and waits until the picture is that of the last step. */
export async function pause(page: Page): Promise<void> {
  if (await running(page)) await page.locator("#play").click();
  await expect.poll(() => running(page)).toBe(false);
  await settled(page);
}

/** Waits until no more frames come. */
export async function settled(page: Page): Promise<void> {
  let before = -1;
  await expect
    .poll(
      async () => {
        const now = await page.evaluate(() => window.taut.received);
        const same = now === before;
        before = now;
        return same;
      },
      { intervals: [600] },
    )
    .toBe(true);
}

export interface Pixels {
  width: number;
  height: number;
  /** Red, green and blue of every pixel. */
  colors: number[];
}

/** The middle of the picture, without the texts over it. The browser itself decodes its screenshot. */
export async function pixels(page: Page): Promise<Pixels> {
  const box = await page.locator("main canvas").boundingBox();
  if (!box) throw new Error("the picture is not on the page");
  const clip = { x: box.x, y: box.y + 60, width: box.width, height: box.height - 120 };
  const png = await page.screenshot({ clip, timeout: 90_000 });
  return page.evaluate(async (base64) => {
    const bytes = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
    const image = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
    const canvas = new OffscreenCanvas(image.width, image.height);
    const context = canvas.getContext("2d");
    if (!context) throw new Error("no 2d canvas");
    context.drawImage(image, 0, 0);
    const { data } = context.getImageData(0, 0, image.width, image.height);
    const colors: number[] = [];
    for (let i = 0; i < data.length; i += 4) {
      colors.push(((data[i] ?? 0) << 16) | ((data[i + 1] ?? 0) << 8) | (data[i + 2] ?? 0));
    }
    return { width: image.width, height: image.height, colors };
  }, png.toString("base64"));
}

/** How many pixels differ. */
export function difference(a: Pixels, b: Pixels): number {
  expect([a.width, a.height]).toEqual([b.width, b.height]);
  return a.colors.filter((color, i) => color !== b.colors[i]).length;
}
