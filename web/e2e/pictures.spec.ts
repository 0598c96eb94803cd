// Takes the pictures that somebody should look at: target/screenshots.

import type { Page } from "@playwright/test";
import { expect, open, pause, step, test } from "./fixtures";

const FOLDER = "../target/screenshots";

/** Lets the scene come to `until`, then takes a picture in full resolution. */
async function shoot(page: Page, name: string, until: number): Promise<void> {
  await expect.poll(() => step(page)).toBeGreaterThanOrEqual(until);
  await pause(page);
  await page.mouse.move(0, 0);
  // The finer picture that is drawn when nothing moves.
  await page.waitForTimeout(2500);
  const png = await page.screenshot({ path: `${FOLDER}/${name}.png`, timeout: 120_000 });
  expect(png.length).toBeGreaterThan(20_000);
}

test.describe("on a desk", () => {
  test.use({ viewport: { width: 1440, height: 860 } });

  test("light", async ({ page, server }) => {
    await server.start("cloth-on-tube");
    await open(page, server);
    await shoot(page, "desktop-light", 110);
  });

  test("partition", async ({ page, server }) => {
    await server.start("cloth-on-tube");
    await open(page, server);
    await page.locator("#color-by").selectOption("partition");
    await shoot(page, "partition", 90);
  });

  test("soft bodies", async ({ page, server }) => {
    await server.start("bunny");
    await open(page, server);
    await shoot(page, "soft-bodies", 60);
  });

  test.describe("at night", () => {
    test.use({ colorScheme: "dark" });

    test("dark", async ({ page, server }) => {
      await server.start("flag");
      await open(page, server);
      await page.locator("#color-by").selectOption("strain");
      await shoot(page, "desktop-dark", 90);
    });
  });
});

test.describe("on a phone", () => {
  test.use({ viewport: { width: 390, height: 780 }, hasTouch: true, isMobile: true });

  test("phone", async ({ page, server }) => {
    await server.start("cloth-on-tube");
    await open(page, server);
    await page.locator("nav").getByRole("button", { name: "Look" }).tap();
    await page.locator("#color-by").selectOption("speed");
    await shoot(page, "phone", 60);
  });
});
