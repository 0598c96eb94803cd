// Contract: connections come back, viewers do not disturb each other or the simulation, and no other
// site gets in.

import { WebSocket } from "ws";
import { expect, frames, open, running, step, test } from "./fixtures";
import type { TautServer } from "./server";

test("the page finds a server that was restarted", async ({ page, server, provoked }) => {
  // The browser itself writes down every attempt.
  provoked.push(/WebSocket connection to .* failed/);
  await server.start("cloth-on-tube");
  await open(page, server);
  await expect.poll(() => step(page)).toBeGreaterThan(2);
  await server.stop();
  await expect(page.locator(".notice")).toContainText("No connection");
  await expect(page.locator("#link")).toHaveText("no connection");
  await server.start("hanging-cloth");
  await expect(page.locator("#link")).toHaveText("connected");
  await expect(page.locator(".notice")).toHaveCount(0);
  await expect.poll(() => page.evaluate(() => window.taut.scene?.name)).toBe("hanging-cloth");
  const before = await frames(page);
  await expect.poll(() => frames(page)).toBeGreaterThan(before + 2);
});

test("two viewers see the same simulation", async ({ page, context, server }) => {
  await server.start("cloth-on-tube");
  await open(page, server);
  const other = await context.newPage();
  await open(other, server);
  await expect.poll(() => page.evaluate(() => window.taut.stats?.viewers)).toBe(2);
  await page.bringToFront();
  await page.locator("#play").click();
  await expect.poll(() => running(page)).toBe(false);
  await expect.poll(() => running(other)).toBe(false);
  expect(await step(other)).toBe(await step(page));
  await other.close();
  await expect.poll(() => page.evaluate(() => window.taut.stats?.viewers)).toBe(1);
});

/** A viewer without a browser: it counts frames and, if it wants, acknowledges them. */
class RawViewer {
  received: number[] = [];
  step = 0;
  readonly closed: Promise<{ code: number; reason: string }>;
  private readonly socket: WebSocket;

  constructor(server: TautServer, acknowledges: boolean) {
    this.socket = new WebSocket(server.socket, { origin: server.url.replace(/\/$/, "") });
    this.socket.on("message", (data: Buffer, binary: boolean) => {
      if (!binary || data.readUInt8(0) !== 3) return;
      const frame = data.readUInt32LE(8);
      this.received.push(frame);
      this.step = data.readUInt32LE(12);
      if (acknowledges) this.send({ type: "ack", frame });
    });
    this.closed = new Promise((done) => {
      this.socket.on("close", (code, reason) => done({ code, reason: reason.toString() }));
    });
  }

  send(message: object | string): void {
    this.socket.send(typeof message === "string" ? message : JSON.stringify(message));
  }

  close(): void {
    this.socket.close();
  }
}

test("a viewer that never acknowledges holds nobody up", async ({ server }) => {
  await server.start("cloth-on-tube");
  const silent = new RawViewer(server, false);
  await expect.poll(() => silent.received.length).toBe(2);
  const live = new RawViewer(server, true);
  await expect.poll(() => live.step).toBeGreaterThan(silent.step + 100);
  expect(live.received.length).toBeGreaterThan(20);
  expect(silent.received).toHaveLength(2);
  silent.close();
  live.close();
});

test("a bad message closes its own connection only", async ({ server }) => {
  await server.start("cloth-on-tube");
  const good = new RawViewer(server, true);
  const bad = new RawViewer(server, true);
  await expect.poll(() => bad.received.length).toBeGreaterThan(0);
  bad.send('{"type":"grab","particle":4000000000,"target":[0,0,0]}');
  const { code, reason } = await bad.closed;
  expect(code).toBe(1008);
  expect(reason).not.toBe("");
  const before = good.step;
  await expect.poll(() => good.step).toBeGreaterThan(before + 5);
  good.close();
});

/** The answer to a handshake: "open", or the status that refused it. */
function knock(server: TautServer, headers: Record<string, string>): Promise<string | number> {
  return new Promise((done) => {
    const socket = new WebSocket(server.socket, { headers });
    socket.on("open", () => {
      socket.terminate();
      done("open");
    });
    socket.on("unexpected-response", (request, response) => {
      done(response.statusCode ?? 0);
      request.destroy();
    });
    socket.on("error", () => done(0));
  });
}

test("pages of other sites are refused", async ({ server }) => {
  await server.start("cloth-on-tube", "--paused");
  const own = `http://127.0.0.1:${server.port}`;
  expect(await knock(server, { origin: own })).toBe("open");
  expect(await knock(server, { origin: "https://evil.example" })).toBe(403);
  expect(await knock(server, { origin: `http://127.0.0.1:${server.port + 1}` })).toBe(403);
  // A name that was made to point here.
  const rebound = await knock(server, { origin: "http://evil.example", host: "evil.example" });
  expect(rebound).toBeGreaterThanOrEqual(400);
});
