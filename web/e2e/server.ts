// Starts and stops the real `taut view`, from TAUT_BIN or from where cargo puts it.

import { spawn, type ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { resolve } from "node:path";

const ROOT = resolve(import.meta.dirname, "../..");

function binary(): string {
  const given = process.env.TAUT_BIN;
  if (given !== undefined) return resolve(ROOT, given);
  const built = ["target/release/taut", "target/debug/taut"].map((path) => resolve(ROOT, path));
  const found = built.find(existsSync);
  if (found === undefined) throw new Error(`build taut first: none of ${built.join(", ")} exists`);
  return found;
}

/** A port that nobody listens on. */
export function freePort(): Promise<number> {
  return new Promise((done, fail) => {
    const probe = createServer();
    probe.once("error", fail);
    probe.listen(0, "127.0.0.1", () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => done(port));
    });
  });
}

export class TautServer {
  private child: ChildProcess | null = null;
  private output = "";

  constructor(readonly port: number) {}

  get url(): string {
    return `http://127.0.0.1:${this.port}/`;
  }

  get socket(): string {
    return `ws://127.0.0.1:${this.port}/live`;
  }

  async start(scene: string, ...flags: string[]): Promise<void> {
    const args = ["view", scene, "--no-open", "--port", String(this.port), ...flags];
    const child = spawn(binary(), args, { cwd: ROOT, stdio: ["ignore", "pipe", "pipe"] });
    this.child = child;
    this.output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (chunk: Buffer) => (this.output += chunk.toString()));
    }
    await this.answers(child);
  }

  async stop(): Promise<void> {
    const { child } = this;
    this.child = null;
    if (child?.exitCode !== null) return;
    const ended = new Promise((done) => child.once("exit", done));
    child.kill("SIGKILL");
    await ended;
  }

  /** Asks until the page is served, as long as the program runs. */
  private async answers(child: ChildProcess): Promise<void> {
    for (;;) {
      if (child.exitCode !== null) throw new Error(`taut view ended:\n${this.output}`);
      try {
        const answer = await fetch(this.url);
        await answer.body?.cancel();
        return;
      } catch {
        await new Promise((later) => setTimeout(later, 100));
      }
    }
  }
}
