// Contract: the page works on a phone: panels in a drawer, fingers instead of a mouse.

import { expect, open, step, test } from "./fixtures";

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
