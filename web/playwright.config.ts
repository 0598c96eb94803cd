import { defineConfig } from "@playwright/test";

export default defineConfig({
  testDir: "e2e",
  outputDir: "../target/e2e",
  // Pictures are drawn in software here and cores are few: one browser at a time, and patience.
  workers: 1,
  timeout: 240_000,
  expect: { timeout: 90_000 },
  forbidOnly: true,
  reporter: "list",
  use: {
    viewport: { width: 1040, height: 680 },
    screenshot: "only-on-failure",
    launchOptions: {
      executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
      args: [
        "--no-sandbox",
        "--use-angle=swiftshader",
        "--enable-unsafe-swiftshader",
        // WebGL in software is slow enough; the page around it is faster without.
        "--disable-gpu-compositing",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--disable-quic",
        "--no-first-run",
      ],
    },
  },
});
