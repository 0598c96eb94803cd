// Keeps step with the graphics card: no picture is started before the last one is finished, or a slow
// one would queue pictures up until the page no longer answers.

/** How often a picture is asked whether it is finished: browsers give no event for it. */
const POLL_MS = 3;

/** Tells when the graphics card is done with all it was given. */
export class Fence {
  private sync: WebGLSync | null = null;
  private since = 0;
  private timer = 0;

  /** `done` is told how many milliseconds it took. */
  constructor(
    private readonly gl: WebGL2RenderingContext,
    private readonly done: (milliseconds: number) => void,
  ) {}

  start(): void {
    this.drop();
    this.sync = this.gl.fenceSync(this.gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
    this.since = performance.now();
    this.gl.flush();
    this.timer = window.setTimeout(this.ask, POLL_MS);
  }

  get waiting(): boolean {
    return this.sync !== null;
  }

  /** Forgets what was started: a lost context never finishes. */
  drop(): void {
    clearTimeout(this.timer);
    this.gl.deleteSync(this.sync);
    this.sync = null;
  }

  private readonly ask = (): void => {
    if (!this.sync) return;
    if (this.gl.clientWaitSync(this.sync, 0, 0) === this.gl.TIMEOUT_EXPIRED) {
      this.timer = window.setTimeout(this.ask, POLL_MS);
      return;
    }
    this.drop();
    this.done(performance.now() - this.since);
  };
}
