// A browser that nobody looks into: Playwright has every message of a page's sockets told to it, which
// costs the browser more than drawing does. For measurements.

import { spawn, type ChildProcess } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { WebSocket } from "ws";

interface Answer {
  id?: number;
  result?: { result?: { value?: unknown }; exceptionDetails?: unknown };
  error?: unknown;
}

export class PlainPage {
  private readonly waiting = new Map<number, (answer: Answer) => void>();
  private asked = 0;

  private constructor(
    private readonly browser: ChildProcess,
    private readonly socket: WebSocket,
    private readonly folder: string,
  ) {
    socket.on("message", (data: Buffer) => {
      const answer = JSON.parse(data.toString()) as Answer;
      if (answer.id !== undefined) this.waiting.get(answer.id)?.(answer);
    });
  }

  /** Opens an empty page of this size in a browser of its own. */
  static async open(program: string, args: string[], size: { width: number; height: number }) {
    const folder = await mkdtemp(join(tmpdir(), "taut-measure-"));
    const own = ["--headless", "--hide-scrollbars", "--remote-debugging-port=0"];
    const all = [...own, `--user-data-dir=${folder}`, ...args, "about:blank"];
    const browser = spawn(program, all, { stdio: ["ignore", "ignore", "pipe"] });
    const address = await new Promise<string>((found, fail) => {
      let said = "";
      browser.stderr.on("data", (chunk: Buffer) => {
        said += chunk.toString();
        const [, host] = /DevTools listening on ws:\/\/([^/]+)/.exec(said) ?? [];
        if (host !== undefined) found(`http://${host}/json/list`);
      });
      browser.once("exit", () => fail(new Error(`the browser ended:\n${said}`)));
    });
    const socket = new WebSocket(await pageAt(address), { perMessageDeflate: false });
    await new Promise((opened) => socket.once("open", opened));
    const page = new PlainPage(browser, socket, folder);
    const metrics = { ...size, deviceScaleFactor: 1, mobile: false };
    await page.ask("Emulation.setDeviceMetricsOverride", metrics);
    return page;
  }

  goto(url: string) {
    return this.ask("Page.navigate", { url });
  }

  /** Has a script run in every page before its own. */
  addInitScript(script: () => void) {
    const source = `(${script.toString()})()`;
    return this.ask("Page.enable", {}).then(() =>
      this.ask("Page.addScriptToEvaluateOnNewDocument", { source }),
    );
  }

  async evaluate<Result>(
    script: (milliseconds: number) => Promise<Result>,
    value: number,
  ): Promise<Result> {
    const answer = await this.ask("Runtime.evaluate", {
      expression: `(${script.toString()})(${value})`,
      awaitPromise: true,
      returnByValue: true,
    });
    if (answer.result?.exceptionDetails) throw new Error(JSON.stringify(answer.result));
    return answer.result?.result?.value as Result;
  }

  async close(): Promise<void> {
    const ended = new Promise((done) => this.browser.once("exit", done));
    await this.ask("Browser.close", {});
    await ended;
    await rm(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }

  private async ask(method: string, params: object): Promise<Answer> {
    this.asked += 1;
    const id = this.asked;
    const answer = new Promise<Answer>((done) => this.waiting.set(id, done));
    this.socket.send(JSON.stringify({ id, method, params }));
    const { error, ...rest } = await answer;
    if (error !== undefined) throw new Error(`${method}: ${JSON.stringify(error)}`);
    return rest;
  }
}

/** The socket of the only page. */
async function pageAt(address: string): Promise<string> {
  for (;;) {
    const pages = (await (await fetch(address)).json()) as {
      type: string;
      webSocketDebuggerUrl: string;
    }[];
    const found = pages.find(({ type }) => type === "page");
    if (found) return found.webSocketDebuggerUrl;
    await new Promise((later) => setTimeout(later, 50));
  }
}
