// The state of the page, in one place. Panels and the picture watch it; nothing else is shared.

import type { Grab, Hello, SceneInfo, Stats } from "./protocol";
import type { Grade, Quality } from "./scene3d/quality";
import type { Level } from "./scene3d/segments";
import { Signal } from "./signal";

export type ColorBy = "material" | "partition" | "strain" | "speed" | "contact";

/** How things are drawn: what the page decides without the server. */
export interface Look {
  colorBy: ColorBy;
  /** Index of the kind whose partition is shown. */
  kind: number;
  level: Level;
  /** Only one phase: the number below. */
  alone: boolean;
  phase: number;
  hideRest: boolean;
  surface: boolean;
  wireframe: boolean;
  shadows: boolean;
}

export interface Notice {
  id: number;
  title: string;
  text: string;
  /** Notices of the same topic replace each other. */
  topic: string;
  action?: { label: string; run: () => void };
}

export interface Drawing {
  frames: number;
  fps: number;
  /** Milliseconds of the page's own work on the last frame: places and normals, */
  prepareMs: number;
  /** then telling the graphics driver what to draw, */
  submitMs: number;
  /** and how long that took from then on. */
  drawMs: number;
  /** The quality of the last picture, */
  quality: Grade;
  /** and how many triangles of bodies and pixels it had. */
  triangles: number;
  pixels: number;
}

export type Theme = "light" | "dark";

const LOOK: Look = {
  colorBy: "material",
  kind: 0,
  level: "phase",
  alone: false,
  phase: 0,
  hideRest: true,
  surface: true,
  wireframe: false,
  shadows: true,
};

export class State {
  readonly hello = new Signal<Hello | null>(null);
  readonly scene = new Signal<SceneInfo | null>(null);
  readonly stats = new Signal<Stats | null>(null);
  readonly grabs = new Signal<readonly Grab[]>([]);
  readonly look = new Signal<Look>(LOOK);
  readonly notices = new Signal<readonly Notice[]>([]);
  readonly drawing = new Signal<Drawing>({
    frames: 0,
    fps: 0,
    prepareMs: 0,
    submitMs: 0,
    drawMs: 0,
    quality: "full",
    triangles: 0,
    pixels: 0,
  });
  readonly quality = new Signal<Quality>("auto");
  readonly theme = new Signal<Theme>("light");
  readonly busy = new Signal<string | null>(null);
  private lastNotice = 0;

  setLook(change: Partial<Look>): void {
    this.look.update((look) => ({ ...look, ...change }));
  }

  notify(notice: Omit<Notice, "id">): void {
    this.lastNotice += 1;
    const added = { ...notice, id: this.lastNotice };
    this.notices.update((all) => [...all.filter((n) => n.topic !== notice.topic), added]);
  }

  dismiss(topic: string): void {
    this.notices.update((all) => all.filter((n) => n.topic !== topic));
  }
}
