// `window.taut`: what tests, and the curious in a browser's console, can read about the page.

import type { Connection } from "./connection";
import type { Grab, SceneInfo, Stats, Vector } from "./protocol";
import type { Session } from "./session";
import type { Drawing, Look, Notice, State, Theme } from "./state";

export interface Inspection {
  readonly link: string;
  readonly scene: SceneInfo | null;
  readonly stats: Stats | null;
  readonly look: Look;
  readonly theme: Theme;
  readonly grabs: readonly Grab[];
  readonly notices: readonly Notice[];
  readonly drawing: Drawing;
  readonly received: number;
  /** Each color in which elements of the partition are drawn, once. */
  readonly colors: readonly string[];
  place: (point: number) => Vector;
  /** Where a point is on the screen, in CSS pixels. */
  project: (point: number) => [number, number];
}

declare global {
  interface Window {
    readonly taut: Inspection;
  }
}

export function expose(state: State, connection: Connection, session: Session): void {
  const inspection: Inspection = {
    get link() {
      return connection.link.value.state;
    },
    get scene() {
      return state.scene.value;
    },
    get stats() {
      return state.stats.value;
    },
    get look() {
      return state.look.value;
    },
    get theme() {
      return state.theme.value;
    },
    get grabs() {
      return state.grabs.value;
    },
    get notices() {
      return state.notices.value;
    },
    get drawing() {
      return state.drawing.value;
    },
    get received() {
      return session.received;
    },
    get colors() {
      return session.view?.lines.mesh.visible ? session.view.lines.shown : [];
    },
    place: (point) => {
      const places = session.view?.bodies.places;
      const at = (k: number) => places?.[3 * point + k] ?? Number.NaN;
      return [at(0), at(1), at(2)];
    },
    project: (point) => session.view?.project(point) ?? [Number.NaN, Number.NaN],
  };
  Object.defineProperty(window, "taut", { value: Object.freeze(inspection) });
}
