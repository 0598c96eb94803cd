// Contract: what a user sees and does in a real browser, against the real `taut view`.

import type { Locator, Page } from "@playwright/test";
import {
  difference,
  expect,
  frames,
  open,
  pause,
  pixels,
  place,
  running,
  settled,
  step,
  test,
} from "./fixtures";

test("the page connects and cloth moves", async ({ page, server }) => {
  await server.start("cloth-on-tube", "--paused");
  await open(page, server, "full");
  await expect(page.locator("#link")).toHaveText("connected");
  await expect(page).toHaveTitle(/cloth-on-tube/);
  await settled(page);
  const picture = await pixels(page);
  const corner = await place(page, 0);
  await page.locator("#play").click();
  await expect.poll(() => step(page)).toBeGreaterThan(30);
  await pause(page);
  const fallen = await place(page, 0);
  expect(fallen[1]).toBeLessThan(corner[1] - 0.1);
  expect(difference(picture, await pixels(page))).toBeGreaterThan(2000);
});

test("pause, one step, and start over", async ({ page, server }) => {
  await server.start("cloth-on-tube", "--paused");
  await open(page, server);
  expect(await step(page)).toBe(0);
  const start = await place(page, 0);
  await page.locator("#step").click();
  await expect.poll(() => step(page)).toBe(1);
  await page.keyboard.press("s");
  await expect.poll(() => step(page)).toBe(2);
  await page.keyboard.press("Space");
  await expect.poll(() => step(page)).toBeGreaterThan(10);
  await pause(page);
  const stopped = await step(page);
  // Exactly one more: nothing went on after the pause.
  await page.locator("#step").click();
  await expect.poll(() => step(page)).toBeGreaterThan(stopped);
  expect(await step(page)).toBe(stopped + 1);
  await page.locator("#reset").click();
  await expect.poll(() => step(page)).toBe(0);
  // Slow pages are sent 16 bits a coordinate, so places are rounded to a fraction of a millimeter.
  await expect.poll(async () => distance(await place(page, 0), start)).toBeLessThan(1e-3);
});

/** A particle of the cloth that can be seen: somewhere in the middle of it. */
const SEEN = 5050;

/** Presses the mouse on a particle of the cloth and pulls it by so many pixels. */
async function pull(page: Page, particle: number, dx: number, dy: number): Promise<void> {
  const [x, y] = await page.evaluate((i) => window.taut.project(i), particle);
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x + dx, y + dy, { steps: 8 });
}

const grabs = (page: Page) => page.evaluate(() => window.taut.grabs);

test("the mouse grabs a particle, pins it and lets it go", async ({ page, server }) => {
  await server.start("cloth-on-tube", "--paused");
  await open(page, server);
  await pull(page, SEEN, 0, -120);
  const [grab] = await grabs(page);
  if (!grab) throw new Error("nothing was grabbed");
  const { particle } = grab;
  const before = await place(page, particle);
  await page.keyboard.press("Space");
  // Gravity pulls it down; only the mouse can lift it.
  await expect.poll(async () => (await place(page, particle))[1]).toBeGreaterThan(before[1] + 0.15);

  await page.keyboard.press("p");
  await page.mouse.up();
  await expect.poll(() => grabs(page)).toMatchObject([{ particle, pinned: true }]);
  const [pin] = await grabs(page);
  if (!pin) throw new Error("nothing was pinned");
  const later = (await step(page)) + 30;
  await expect.poll(() => step(page)).toBeGreaterThan(later);
  await expect
    .poll(async () => distance(await place(page, particle), pin.target))
    .toBeLessThan(0.05);

  const [px, py] = await page.evaluate((i) => window.taut.project(i), particle);
  await page.mouse.click(px, py);
  await expect.poll(() => grabs(page)).toEqual([]);
  await expect.poll(async () => (await place(page, particle))[1]).toBeLessThan(pin.target[1] - 0.1);
});

function distance(a: readonly number[], b: readonly number[]): number {
  return Math.hypot(...a.map((x, k) => x - (b[k] ?? 0)));
}

test("what was grabbed is free after the mouse goes up", async ({ page, server }) => {
  await server.start("cloth-on-tube", "--paused");
  await open(page, server);
  await pull(page, SEEN, 30, -60);
  expect(await grabs(page)).toHaveLength(1);
  await page.mouse.up();
  await expect.poll(() => grabs(page)).toEqual([]);
});

test("dragging beside the cloth turns the camera", async ({ page, server }) => {
  await server.start("cloth-on-tube", "--paused");
  await open(page, server);
  // Far from the axis around which the camera turns.
  const CORNER = 0;
  const before = await page.evaluate((i) => window.taut.project(i), CORNER);
  const box = await page.locator("main canvas").boundingBox();
  if (!box) throw new Error("no picture");
  await page.mouse.move(box.x + 20, box.y + 20);
  await page.mouse.down();
  await page.mouse.move(box.x + 160, box.y + 60, { steps: 6 });
  await page.mouse.up();
  expect(await grabs(page)).toEqual([]);
  const moved = async () =>
    distance(await page.evaluate((i) => window.taut.project(i), CORNER), before);
  await expect.poll(moved).toBeGreaterThan(10);
});

/** How many of the colors occur in the picture, within what rounding may change. */
function occurring(colors: readonly string[], shown: readonly number[]): number {
  const counted = new Map<number, number>();
  for (const color of shown) counted.set(color, (counted.get(color) ?? 0) + 1);
  return colors.filter((color) => (counted.get(parseInt(color.slice(1), 16)) ?? 0) > 3).length;
}

const shownColors = (page: Page) => page.evaluate(() => window.taut.colors);

test("a partition has as many colors as phases", async ({ page, server }) => {
  await server.start("cloth-on-tube", "--paused");
  await open(page, server, "full");
  await page.locator("#color-by").selectOption("partition");
  const kinds = await page.evaluate(() => window.taut.scene?.kinds ?? []);
  expect(kinds.length).toBeGreaterThan(1);
  for (const [index, kind] of kinds.entries()) {
    await page.locator("#kind").selectOption(String(index));
    await expect.poll(async () => (await shownColors(page)).length).toBe(kind.phases);
    await expect(page.locator(".swatch")).toHaveCount(kind.phases);
    await expect(page.locator("#partition-facts")).toContainText(`${kind.phases} phases`);
  }

  const stretch = kinds.findIndex(({ kind }) => kind === "stretch");
  await page.locator("#kind").selectOption(String(stretch));
  await expect.poll(async () => (await shownColors(page)).length).toBe(kinds[stretch]?.phases);
  const colors = await shownColors(page);
  await expect.poll(async () => occurring(colors, (await pixels(page)).colors)).toBe(colors.length);
  await page.locator("#alone").check();
  await expect.poll(async () => occurring(colors, (await pixels(page)).colors)).toBe(1);
});

test("another partition has other colors at once", async ({ page, server }) => {
  await server.start("cloth-on-tube", "--paused");
  await open(page, server);
  await page.locator("#color-by").selectOption("partition");
  await page.locator("#partition").selectOption("phantom");
  const colors = page.locator("#colors");
  await colors.fill("4");
  await colors.press("Enter");
  await expect.poll(async () => (await shownColors(page)).length).toBe(4);
  const facts = page.locator("#partition-facts");
  await expect(facts).toContainText("4 phases");
  await expect(facts).not.toContainText(" 0 copies");
});

test("another solver goes on from the same state", async ({ page, server }) => {
  await server.start("cloth-on-tube");
  await open(page, server);
  await expect.poll(() => step(page)).toBeGreaterThan(20);
  await pause(page);
  const before = { step: await step(page), place: await place(page, SEEN) };
  await page.locator("#solver").selectOption("jacobi");
  const solver = () => page.evaluate(() => window.taut.scene?.settings.solver);
  await expect.poll(solver).toBe("jacobi");
  const iterations = page.locator("#iterations");
  await iterations.fill("3");
  await iterations.press("Enter");
  const settings = () => page.evaluate(() => window.taut.scene?.settings.iterations);
  await expect.poll(settings).toBe(3);
  await settled(page);
  expect(await step(page)).toBe(before.step);
  expect(distance(await place(page, SEEN), before.place)).toBeLessThan(1e-3);
  await page.locator("#step").click();
  await expect.poll(() => step(page)).toBe(before.step + 1);
});

test("back-end and threads change while it runs", async ({ page, server }) => {
  await server.start("cloth-on-tube");
  await open(page, server);
  await expect.poll(() => step(page)).toBeGreaterThan(3);
  await page.locator("#backend").selectOption("serial");
  const backend = () => page.evaluate(() => window.taut.scene?.settings.backend);
  await expect.poll(backend).toBe("serial");
  const before = await step(page);
  expect(before).toBeGreaterThan(3);
  await expect.poll(() => step(page)).toBeGreaterThan(before);
});

test("a refused change is told and undone", async ({ page, server }) => {
  await server.start("cloth-on-tube", "--paused");
  await open(page, server);
  const gravity = page.locator("#gravity-y");
  await gravity.fill("1e60");
  await gravity.press("Enter");
  await expect(notice(page, "set")).toBeVisible();
  await gravity.blur();
  const value = () => page.evaluate(() => window.taut.scene?.settings.gravity[1]);
  expect(await value()).toBeCloseTo(-9.81);
});

test("another scene", async ({ page, server }) => {
  await server.start("cloth-on-tube");
  await open(page, server);
  // Said at once: a large scene takes seconds to build, and the picture stands still meanwhile.
  const said = await page.locator("#scene").evaluate((list: HTMLSelectElement) => {
    list.value = "falling-cube";
    list.dispatchEvent(new Event("change"));
    return document.querySelector(".busy")?.textContent;
  });
  expect(said).toBe("Building falling-cube …");
  const name = () => page.evaluate(() => window.taut.scene?.name);
  await expect.poll(name).toBe("falling-cube");
  const before = await frames(page);
  await expect.poll(() => frames(page)).toBeGreaterThan(before + 1);
  await expect(page.locator("#panel-scene .about")).not.toBeEmpty();
  const particles = await page.evaluate(() => window.taut.scene?.particles ?? 0);
  expect((await place(page, particles - 1)).every(Number.isFinite)).toBe(true);
});

const notice = (page: Page, topic: string): Locator =>
  page.locator(`.notice[data-topic="${topic}"]`);

/** Drops files on the page, as the browser does when they come from a folder. */
async function drop(page: Page, files: Record<string, string>): Promise<void> {
  const transfer = await page.evaluateHandle((texts) => {
    const data = new DataTransfer();
    for (const [name, text] of Object.entries(texts)) data.items.add(new File([text], name));
    return data;
  }, files);
  for (const type of ["dragenter", "dragover", "drop"]) {
    await page.dispatchEvent("main", type, { dataTransfer: transfer });
  }
}

const PYRAMID = `v 0 1 0
v 1 0 1
v -1 0 1
v 0 0 -1
f 1 2 3
f 1 3 4
f 1 4 2
f 2 4 3
`;

const DROPPED = `title = "Dropped on the page"

[[bodies]]
name = "pyramid"
mesh.file = { path = "pyramid.obj" }
elements.stretch = { compliance = 0 }

[[shapes]]
name = "floor"
geometry.plane = {}
position = [0, -1, 0]
`;

test("files dropped on the page are loaded", async ({ page, server }) => {
  await server.start("cloth-on-tube");
  await open(page, server);
  await drop(page, { "pyramid.obj": PYRAMID, "dropped.toml": DROPPED });
  await expect(page.locator("#panel-scene .about")).toHaveText("Dropped on the page");
  await expect.poll(() => page.evaluate(() => window.taut.scene?.particles)).toBe(4);
  const before = await frames(page);
  await expect.poll(() => frames(page)).toBeGreaterThan(before);

  await drop(page, { "pyramid.obj": PYRAMID.replace("v 0 0 -1", "v 0 0 -1\nv 5 5 5") });
  await expect.poll(() => page.evaluate(() => window.taut.scene?.name)).toContain("pyramid");
});

test("errors of a dropped scene are told in full", async ({ page, server }) => {
  await server.start("cloth-on-tube");
  await open(page, server);
  const bad = DROPPED.replace("compliance = 0", "complaince = 0").replace("[0, -1, 0]", "[0, -1]");
  await drop(page, { "bad.toml": bad, "pyramid.obj": PYRAMID });
  const text = notice(page, "load").locator("pre");
  await expect(text).toContainText("complaince");
  await expect(text).toContainText("position");
  // What was there goes on.
  expect(await page.evaluate(() => window.taut.scene?.name)).toBe("cloth-on-tube");
  const before = await step(page);
  await expect.poll(() => step(page)).toBeGreaterThan(before);
  await notice(page, "load").getByRole("button", { name: "Close" }).click();
  await expect(notice(page, "load")).toHaveCount(0);
});

const EXPLODES = `title = "Springs far too stiff for their steps"

[[bodies]]
name = "cloth"
mesh.grid = { particles = [10, 10], size = [1, 1] }
deform = [1.5, 1, 1.2]
elements.stretch = { spring = 1e9 }
`;

test("an explosion is told, and one can start over", async ({ page, server }) => {
  await server.start("cloth-on-tube");
  await open(page, server);
  await drop(page, { "explodes.toml": EXPLODES });
  await expect(notice(page, "simulation")).toContainText("stopped");
  await expect.poll(() => running(page)).toBe(false);
  await page.locator("#scene").selectOption("hanging-cloth");
  await expect(notice(page, "simulation")).toHaveCount(0);
  await expect.poll(() => page.evaluate(() => window.taut.scene?.name)).toBe("hanging-cloth");
});

test("colors by strain, speed and contact have a legend", async ({ page, server }) => {
  await server.start("cloth-on-tube", "--paused");
  await open(page, server, "full");
  await settled(page);
  const plain = await pixels(page);
  for (const field of ["strain", "speed", "contact"]) {
    await page.locator("#color-by").selectOption(field);
    await expect(page.locator(".legend")).toBeVisible();
    await expect(page.locator(".legend .ends span").last()).not.toBeEmpty();
    await expect.poll(async () => difference(plain, await pixels(page))).toBeGreaterThan(2000);
  }
});

test("keys: help, wireframe, colors, dark and light, panels", async ({ page, server }) => {
  await server.start("cloth-on-tube", "--paused");
  await open(page, server);
  await page.keyboard.press("?");
  await expect(page.getByRole("dialog")).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toBeHidden();
  await page.keyboard.press("w");
  expect(await page.evaluate(() => window.taut.look.wireframe)).toBe(true);
  await page.keyboard.press("c");
  expect(await page.evaluate(() => window.taut.look.colorBy)).toBe("partition");
  const theme = await page.evaluate(() => window.taut.theme);
  await page.keyboard.press("t");
  expect(await page.evaluate(() => window.taut.theme)).not.toBe(theme);
  await page.keyboard.press("h");
  await expect(page.locator("#panel-solver")).toBeHidden();
});

test("charts fill up", async ({ page, server }) => {
  await server.start("cloth-on-tube");
  await open(page, server);
  await expect.poll(() => step(page)).toBeGreaterThan(20);
  const cards = page.locator("#panel-charts .card");
  await expect(cards).toHaveCount(4);
  await expect(page.locator("#panel-charts .u-wrap")).toHaveCount(4);
  await expect(cards.nth(0).locator(".key")).toContainText("stretch");
});

test("a lost graphics context is told and comes back", async ({ page, server }) => {
  await server.start("cloth-on-tube");
  await open(page, server);
  await page.evaluate(() => {
    const gl = document.querySelector<HTMLCanvasElement>("main canvas")?.getContext("webgl2");
    const context = gl?.getExtension("WEBGL_lose_context");
    Object.assign(window, { restore: () => context?.restoreContext() });
    context?.loseContext();
  });
  await expect(notice(page, "graphics")).toBeVisible();
  const before = await frames(page);
  await page.evaluate(() => {
    (window as unknown as { restore: () => void }).restore();
  });
  await expect(notice(page, "graphics")).toHaveCount(0);
  await expect.poll(() => frames(page)).toBeGreaterThan(before);
});
