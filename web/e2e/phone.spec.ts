// Contract: the page works on a phone: panels in a drawer, fingers instead of a mouse.

import type { CDPSession, Page } from "@playwright/test";
import { expect, open, place, step, test } from "./fixtures";

test.use({ viewport: { width: 390, height: 780 }, hasTouch: true, isMobile: true });

test("panels are in a drawer and nothing is cut off", async ({ page, server }) => {
  await server.start("cloth-on-tube");
  await open(page, server);
  await expect(page.locator("#panel-solver")).toBeHidden();
  const picture = page.locator("main canvas");
  const tall = (await picture.boundingBox())?.height ?? 0;
  expect(tall).toBeGreaterThan(500);
  for (const name of ["Scene", "Solver", "Look", "Charts"]) {
    await page.locator("nav").getByRole("button", { name }).tap();
    await expect(page.locator(`#panel-${name.toLowerCase()}`)).toBeVisible();
    await expect(page.locator(".panel:visible")).toHaveCount(1);
  }
  await expect(page.locator("#panel-charts .u-wrap").first()).toBeVisible();
  await page.locator("nav").getByRole("button", { name: "Charts" }).tap();
  await expect(page.locator(".panel:visible")).toHaveCount(0);
  const overflow = () =>
    document.documentElement.scrollWidth - document.documentElement.clientWidth;
  expect(await page.evaluate(overflow)).toBe(0);
});

test("controls work with a finger", async ({ page, server }) => {
  await server.start("cloth-on-tube", "--paused");
  await open(page, server);
  await page.locator("#step").tap();
  await expect.poll(() => step(page)).toBe(1);
  await page.locator("nav").getByRole("button", { name: "Look" }).tap();
  await page.locator("#color-by").selectOption("partition");
  await expect.poll(() => page.evaluate(() => window.taut.colors.length)).toBeGreaterThan(1);
});

/** Fingers on the screen, as the browser's own touch events. */
class Fingers {
  private constructor(private readonly session: CDPSession) {}

  static async on(page: Page): Promise<Fingers> {
    return new Fingers(await page.context().newCDPSession(page));
  }

  async down(...points: Point[]): Promise<void> {
    await this.send("touchStart", points);
  }

  /** From some places to others, in several moves. */
  async move(from: Point[], to: Point[]): Promise<void> {
    for (let share = 0.125; share <= 1; share += 0.125) {
      const mix = (a: number, b = a) => a + share * (b - a);
      const points = from.map(([x, y], i): Point => [mix(x, to[i]?.[0]), mix(y, to[i]?.[1])]);
      await this.send("touchMove", points);
    }
  }

  async up(): Promise<void> {
    await this.send("touchEnd", []);
  }

  private async send(type: "touchStart" | "touchMove" | "touchEnd", points: Point[]) {
    const touchPoints = points.map(([x, y], id) => ({ x, y, id }));
    await this.session.send("Input.dispatchTouchEvent", { type, touchPoints });
  }
}

type Point = [number, number];

const project = (page: Page, particle: number) =>
  page.evaluate((i) => window.taut.project(i), particle);
const grabs = (page: Page) => page.evaluate(() => window.taut.grabs);
/** Far apart on the screen: how far, in pixels, tells the size of the picture. */
const spread = async (page: Page) => {
  const [a, b] = [await project(page, 0), await project(page, 99)];
  return Math.hypot(a[0] - b[0], a[1] - b[1]);
};
/** Somewhere in the middle of the cloth. */
const SEEN = 5050;

test("a finger grabs a particle and lets it go", async ({ page, server }) => {
  await server.start("cloth-on-tube", "--paused");
  await open(page, server);
  const fingers = await Fingers.on(page);
  const [x, y] = await project(page, SEEN);
  await fingers.down([x, y]);
  await fingers.move([[x, y]], [[x, y - 90]]);
  const [grab] = await grabs(page);
  if (!grab) throw new Error("nothing was grabbed");
  const before = await place(page, grab.particle);
  await page.locator("#play").dispatchEvent("click");
  // Gravity pulls it down; only the finger can lift it.
  const height = async () => (await place(page, grab.particle))[1];
  await expect.poll(height).toBeGreaterThan(before[1] + 0.15);
  await fingers.up();
  await expect.poll(() => grabs(page)).toEqual([]);
});

test("two fingers zoom, also when they start on the cloth", async ({ page, server }) => {
  await server.start("cloth-on-tube", "--paused");
  await open(page, server);
  const fingers = await Fingers.on(page);
  const before = await spread(page);
  const [x, y] = await project(page, SEEN);
  const first: Point = [x - 30, y];
  const second: Point = [x + 30, y];
  await fingers.down(first);
  expect(await grabs(page)).toHaveLength(1);
  await fingers.down(first, second);
  await expect.poll(() => grabs(page)).toEqual([]);
  await fingers.move(
    [first, second],
    [
      [x - 90, y],
      [x + 90, y],
    ],
  );
  await fingers.up();
  await expect.poll(() => spread(page)).toBeGreaterThan(1.5 * before);
  expect(await grabs(page)).toEqual([]);
});

test("a finger beside the cloth turns the camera", async ({ page, server }) => {
  await server.start("cloth-on-tube", "--paused");
  await open(page, server);
  const fingers = await Fingers.on(page);
  const box = await page.locator("main canvas").boundingBox();
  if (!box) throw new Error("no picture");
  const before = await project(page, 0);
  const start: Point = [box.x + 30, box.y + 60];
  await fingers.down(start);
  await fingers.move([start], [[start[0] + 150, start[1] + 30]]);
  await fingers.up();
  const moved = async () => {
    const now = await project(page, 0);
    return Math.hypot(now[0] - before[0], now[1] - before[1]);
  };
  await expect.poll(moved).toBeGreaterThan(10);
  expect(await grabs(page)).toEqual([]);
});
