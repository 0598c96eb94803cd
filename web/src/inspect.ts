// `window.taut`: what tests, and the curious in a browser's console, can read about the page.

import type { Connection } from "./connection";
import type { Grab, SceneInfo, Stats, Vector } from "./protocol";
import type { Quality } from "./scene3d/quality";
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
  /** The quality that is asked for; that of the last picture is in `drawing`. */
  readonly quality: Quality;
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
  const now: { [Name in keyof Inspection]: () => Inspection[Name] } = {
    link: () => connection.link.value.state,
    scene: () => state.scene.value,
    stats: () => state.stats.value,
    look: () => state.look.value,
    theme: () => state.theme.value,
    grabs: () => state.grabs.value,
    notices: () => state.notices.value,
    drawing: () => state.drawing.value,
    quality: () => state.quality.value,
    received: () => session.received,
    colors: () => (session.view?.lines.mesh.visible ? session.view.lines.shown : []),
    place: () => (point) => {
      const places = session.view?.bodies.places;
      const at = (k: number) => places?.[3 * point + k] ?? Number.NaN;
      return [at(0), at(1), at(2)];
    },
    project: () => (point) => session.view?.project(point) ?? [Number.NaN, Number.NaN],
  };
  const inspection = {};
  for (const [name, get] of Object.entries(now)) {
    Object.defineProperty(inspection, name, { get, enumerable: true });
  }
  Object.defineProperty(window, "taut", { value: Object.freeze(inspection) });
}
