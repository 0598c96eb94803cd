// How finely pictures are drawn, and the rule that chooses it from how long they take. No three.js, no
// clock: both are tested by themselves.

export type Grade = "full" | "high" | "medium" | "low" | "least";
/** What a user asks for. */
export type Quality = Grade | "auto";

/** What a picture of a grade has. */
export interface Traits {
  /** Share of the screen's resolution. */
  scale: number;
  /** Triangles above which bodies are drawn from fewer points. */
  triangles: number;
  /** Texels along a side of the shadow map, and how many pictures one serves; null: no shadows. */
  shadows: { size: number; pictures: number } | null;
}

/** From fine to coarse. Each takes at most about half the time of the one before it. */
export const GRADES: readonly Grade[] = ["full", "high", "medium", "low", "least"];

export const TRAITS: Record<Grade, Traits> = {
  full: { scale: 1, triangles: Infinity, shadows: { size: 2048, pictures: 1 } },
  high: { scale: 0.8, triangles: 80_000, shadows: { size: 1024, pictures: 1 } },
  medium: { scale: 0.65, triangles: 30_000, shadows: { size: 512, pictures: 1 } },
  low: { scale: 0.5, triangles: 16_000, shadows: { size: 512, pictures: 2 } },
  least: { scale: 0.5, triangles: 5_000, shadows: null },
};

/** 30 pictures a second, … */
const INTERVAL_MS = 1000 / 30;
/** Where the processor draws, more than these would only take time from the simulation. */
export const SOFTWARE_MS = 1000 / 32;
/** … of which drawing may take this share: a simulation beside it needs some, too. */
const SHARE = 0.7;
const SLOW_MS = SHARE * INTERVAL_MS;
const LONGEST_PAUSE_MS = 200;
/** Time between two pictures of a screen. */
export const TICK_MS = 1000 / 60;
/** Pictures of which one is typical. */
const TYPICAL_OF = 5;
/** With so much room the next finer quality is tried: it may take twice the time. */
const ROOM_MS = SLOW_MS / 2;
/** Pictures whose median counts before it becomes coarser, and finer: that is not urgent. */
const COARSER_AFTER = 4;
const FINER_AFTER = 20;
/** Pictures that do not count after a change: they also compile shaders. */
const UNSETTLED = 2;
/** Rooms to let pass after a trial that was too slow: twice as many each time, up to the last. */
const WAITS = [2, 64] as const;

/** After so long without a change the picture is drawn once more, in full. */
const STILL_MS = 300;

export function isQuality(text: string | null): text is Quality {
  return text === "auto" || (GRADES as readonly (string | null)[]).includes(text);
}

/** Decides when pictures begin. */
export class Rhythm {
  private times: number[] = [];
  private due = 0;

  /** Pictures come at least so many milliseconds apart. */
  constructor(private readonly leastMs = 0) {}

  /** Milliseconds until it is time for a picture, on a screen that shows one every `TICK_MS`. */
  wait(now: number): number {
    return Math.max(this.due - TICK_MS / 2 - now, 0);
  }

  /** A picture that began then took so long. */
  took(start: number, milliseconds: number): void {
    this.times = [...this.times.slice(1 - TYPICAL_OF), milliseconds];
    // Not what this one took alone: one that was interrupted would be followed by a pause as well.
    const typical = median(this.times);
    // What the screen itself waits for needs no pause; nor is one long after a sleep of the machine.
    const pause = typical <= TICK_MS ? 0 : Math.min(typical / SHARE - typical, LONGEST_PAUSE_MS);
    const interval = Math.max(this.leastMs, typical + pause);
    // After one that came late the next one may come sooner, but no others after it.
    this.due = Math.max(this.due, start - interval) + interval;
  }
}

/** Chooses the quality while pictures are drawn. */
export class Chooser {
  private times: number[] = [];
  private unsettled = UNSETTLED;
  private rooms = 0;
  private wait = 0;
  private nextWait: number = WAITS[0];
  private isTrial = false;

  constructor(private index: number) {}

  get grade(): Grade {
    return GRADES[this.index] ?? "full";
  }

  /** A picture took so long. Whether the quality has changed. */
  took(milliseconds: number): boolean {
    if (this.unsettled > 0) {
      this.unsettled -= 1;
      return false;
    }
    this.times.push(milliseconds);
    if (this.times.length >= COARSER_AFTER && this.isSlow()) return true;
    if (this.times.length < FINER_AFTER) return false;
    const time = median(this.times);
    this.times = [];
    if (this.isTrial) {
      // It has stayed fast enough.
      this.isTrial = false;
      this.nextWait = WAITS[0];
    }
    return time < ROOM_MS && this.finer();
  }

  /** Something else is drawn: what was too slow before may not be now. */
  forget(): void {
    this.times = [];
    this.unsettled = UNSETTLED;
    this.rooms = 0;
    this.wait = 0;
    this.nextWait = WAITS[0];
    this.isTrial = false;
  }

  private isSlow(): boolean {
    const time = median(this.times.slice(-COARSER_AFTER));
    if (time <= SLOW_MS || this.index === GRADES.length - 1) return false;
    if (this.isTrial) {
      this.wait = this.nextWait;
      this.nextWait = Math.min(2 * this.nextWait, WAITS[1]);
    }
    // Far too slow: the next one would be as well.
    this.change(time > 3 * SLOW_MS ? 2 : 1);
    this.isTrial = false;
    return true;
  }

  private finer(): boolean {
    this.rooms += 1;
    if (this.index === 0 || this.rooms <= this.wait) return false;
    this.change(-1);
    this.isTrial = true;
    return true;
  }

  private change(by: number): void {
    this.index = Math.min(Math.max(this.index + by, 0), GRADES.length - 1);
    this.times = [];
    this.rooms = 0;
    this.unsettled = UNSETTLED;
  }
}

/** The grade of the next picture: what is asked for, or else what is chosen, and full at rest. */
export class Detail {
  private lastChange = 0;
  private isRefined = false;

  constructor(
    private readonly chooser: Chooser,
    private readonly quality: () => Quality,
  ) {}

  get grade(): Grade {
    const quality = this.quality();
    if (quality !== "auto") return quality;
    return this.isRefined ? "full" : this.chooser.grade;
  }

  /** Something moves. */
  changed(now: number): void {
    this.lastChange = now;
    this.isRefined = false;
  }

  /** Whether nothing moves, so that time does not matter. */
  isStill(now: number): boolean {
    return now - this.lastChange > STILL_MS;
  }

  /** Whether the picture should be drawn once more, finer. */
  refine(now: number): boolean {
    const isFinest = this.quality() !== "auto" || this.grade === "full";
    if (isFinest || !this.isStill(now)) return false;
    this.isRefined = true;
    return true;
  }

  took(milliseconds: number): void {
    if (this.quality() === "auto" && !this.isRefined) this.chooser.took(milliseconds);
  }

  forget(): void {
    this.chooser.forget();
  }
}

/** Of an even number the larger one of the two in the middle. */
function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
}
