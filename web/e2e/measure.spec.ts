// Measures instead of testing: what docs/viewer.md says the page costs. `npm run measure`.

import { test } from "./fixtures";
import { PlainPage } from "./plain";

const SCENES: Record<string, string[]> = {
  "10,000 particles": [],
  "100,000 particles": [
    ...["--set", "bodies.0.mesh.grid.particles=[316,316]"],
    ...["--set", "iterations=1"],
  ],
};
const SIZE = { width: 1040, height: 680 };
/** How often; not at all among the tests. */
const TIMES = Number(process.env.TAUT_MEASURE ?? 0);
/** A window that was just opened keeps the browser busy with itself. */
const WINDOW_MS = 2500;
/** Before this, quality and threads still find their place. */
const SETTLE_MS = 4000;
const MEASURE_MS = 8000;

for (const [name, flags] of Object.entries(SCENES)) {
  for (let time = 1; time <= TIMES; time += 1) {
    test(`${name}, ${time}`, async ({ server, launchOptions, viewport }) => {
      await server.start("cloth-on-tube", ...flags);
      const { executablePath = "", args = [] } = launchOptions;
      const page = await PlainPage.open(executablePath, args, viewport ?? SIZE);
      await page.addInitScript(noteFirstPicture);
      await wait(WINDOW_MS);
      // No questions before the first picture: they would make it wait.
      await page.goto(server.url);
      await wait(SETTLE_MS);
      console.log(JSON.stringify(await measure(page)));
      await page.close();
    });
  }
}

/** Runs in the page, before its own script. */
function noteFirstPicture(): void {
  const timer = setInterval(() => {
    const { taut } = window as Partial<Window>;
    if (!taut || taut.drawing.frames === 0) return;
    performance.mark("first picture");
    clearInterval(timer);
  }, 2);
}

function wait(milliseconds: number): Promise<void> {
  return new Promise((later) => setTimeout(later, milliseconds));
}

function measure(page: PlainPage) {
  return page.evaluate(async (milliseconds) => {
    const { taut } = window;
    const start = { at: performance.now(), frames: taut.drawing.frames };
    // Figures may come rarely: simulated time is compared with when it was told.
    const told: { at: number; stats: typeof taut.stats }[] = [];
    const samples: Record<string, number[]> = {
      prepareMs: [],
      submitMs: [],
      drawMs: [],
      stepMs: [],
    };
    for (let last = 0; performance.now() < start.at + milliseconds;) {
      await new Promise((later) => setTimeout(later, 10));
      const { drawing, stats } = taut;
      if (told.at(-1)?.stats !== stats) told.push({ at: performance.now(), stats });
      if (drawing.frames === last || !stats) continue;
      last = drawing.frames;
      const { prepareMs, submitMs, drawMs } = drawing;
      for (const [key, value] of Object.entries({ prepareMs, submitMs, drawMs })) {
        samples[key]?.push(value);
      }
      samples.stepMs?.push(stats.ms_per_step);
    }
    const seconds = (performance.now() - start.at) / 1000;
    const round = (value: number) => Number(value.toPrecision(3));
    const medians = Object.entries(samples).map(([key, values]) => {
      const sorted = values.toSorted((a, b) => a - b);
      const at = (share: number) => round(sorted[Math.floor(share * sorted.length)] ?? 0);
      return [key, [at(0.5), at(0.1)]];
    });
    const { drawing, stats } = taut;
    const [first, last] = [told[1], told.at(-1)];
    const simulated = (last?.stats?.time ?? 0) - (first?.stats?.time ?? 0);
    const elapsed = (last?.at ?? 0) - (first?.at ?? 0);
    return {
      firstPictureMs: round(performance.getEntriesByName("first picture")[0]?.startTime ?? 0),
      picturesPerSecond: round((drawing.frames - start.frames) / seconds),
      realTime: round((1000 * simulated) / elapsed),
      ...(Object.fromEntries(medians) as Record<string, number[]>),
      quality: drawing.quality,
      triangles: drawing.triangles,
      threads: stats?.threads,
      frameMs: round(stats?.frame_ms ?? 0),
      frameBytes: stats?.frame_bytes,
    };
  }, MEASURE_MS);
}
