// Keeps step with the graphics card: no picture is started before the last one is finished, and a
// card that is too slow gets coarser pictures. Without the first, a slow one would queue pictures up
// until the page no longer answers.

/** Shares of the full resolution, from fine to coarse. */
const SCALES = [1, 0.75, 0.55, 0.4] as const;
/** A picture that takes longer makes a page that does not feel live. */
const SLOW_MS = 55;
/** Pictures that are looked at before anything changes: the first ones also compile shaders. */
const SAMPLES = 6;

/** Chooses the resolution from how long pictures take. Only ever coarser: it must not flicker. */
export class Resolution {
  private level = 0;
  private times: number[] = [];

  get scale(): number {
    return SCALES[this.level] ?? 1;
  }

  /** Whether the scale changed. */
  took(milliseconds: number): boolean {
    this.times.push(milliseconds);
    if (this.times.length < SAMPLES) return false;
    const median = this.times.toSorted((a, b) => a - b)[SAMPLES >> 1] ?? 0;
    this.times = [];
    if (median < SLOW_MS || this.level === SCALES.length - 1) return false;
    this.level += 1;
    return true;
  }
}

/** Tells when the graphics card is done with all it was given. */
export class Fence {
  private sync: WebGLSync | null = null;
  private since = 0;

  constructor(private readonly gl: WebGL2RenderingContext) {}

  start(): void {
    this.sync = this.gl.fenceSync(this.gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
    this.since = performance.now();
    this.gl.flush();
  }

  /** Milliseconds that it took; null while it goes on, and if nothing was started. */
  finished(): number | null {
    if (!this.sync) return null;
    const status = this.gl.clientWaitSync(this.sync, 0, 0);
    if (status === this.gl.TIMEOUT_EXPIRED) return null;
    this.drop();
    return performance.now() - this.since;
  }

  get waiting(): boolean {
    return this.sync !== null;
  }

  /** Forgets what was started: a lost context never finishes. */
  drop(): void {
    this.gl.deleteSync(this.sync);
    this.sync = null;
  }
}
