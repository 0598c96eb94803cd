// What the page does with what the server says.

import type { Connection, Receiver } from "./connection";
import type { Scale } from "./panels/look";
import {
  VERSION,
  type Elements,
  type Failure,
  type Frame,
  type Hello,
  type SceneInfo,
  type ServerBinary,
  type ServerText,
  type Topology,
} from "./protocol";
import { fieldOf, type View } from "./scene3d/view";
import { Signal } from "./signal";
import type { State } from "./state";

const TITLES: Record<string, string> = {
  simulation: "The simulation stopped",
  load: "The file could not be loaded",
  scene: "The scene could not be loaded",
  set: "The change was refused",
  backend: "The back-end could not be changed",
};

export class Session implements Receiver {
  view: View | null = null;
  connection: Connection | null = null;
  readonly scale = new Signal<Scale>({ field: "none", highest: 0 });
  received = 0;

  constructor(private readonly state: State) {
    let wanted = fieldOf(state.look.value);
    let kind = -1;
    state.look.subscribe((look) => {
      if (fieldOf(look) !== wanted) {
        wanted = fieldOf(look);
        this.askForField();
      }
      const asked = look.colorBy === "partition" ? look.kind : -1;
      if (asked !== kind) {
        kind = asked;
        this.askForElements();
      }
    });
  }

  pointsOf = (generation: number): number | undefined => {
    const scene = this.state.scene.value;
    return scene?.generation === generation ? scene.points : undefined;
  };

  text = (message: ServerText): void => {
    switch (message.type) {
      case "hello":
        this.greet(message);
        break;
      case "scene":
        this.enter(message);
        break;
      case "stats":
        if (message.generation === this.state.scene.value?.generation) {
          this.state.stats.set(message);
        }
        break;
      case "error":
        this.fail(message);
        break;
    }
  };

  binary = (message: ServerBinary): void => {
    if (this.pointsOf(message.generation) === undefined) return;
    switch (message.type) {
      case "topology":
        this.rebuild(message);
        break;
      case "elements":
        this.takeElements(message);
        break;
      case "frame":
        this.takeFrame(message);
        break;
    }
  };

  private greet(hello: Hello): void {
    if (hello.version !== VERSION) {
      this.state.notify({
        topic: "version",
        title: "Page and program do not fit together",
        text: `The page speaks version ${VERSION} of the protocol, taut ${hello.taut} version ${hello.version}. Reload the page.`,
      });
    }
    this.state.busy.set(null);
    // A server that was restarted counts generations anew.
    this.state.scene.set(null);
    this.state.hello.set(hello);
    this.askForField();
  }

  private enter(scene: SceneInfo): void {
    const same = this.state.scene.value?.generation === scene.generation;
    this.state.busy.set(null);
    this.state.scene.set(scene);
    this.state.grabs.set(scene.grabs);
    if (!same) this.state.setLook({ kind: firstKind(scene), phase: 0 });
    const { kind, phase } = this.state.look.value;
    const phases = scene.kinds[kind]?.phases ?? 1;
    if (phase >= phases) this.state.setLook({ phase: phases - 1 });
    // The schedule of a running scene may have changed; for a new one topology comes first.
    if (same) this.askForElements();
  }

  private rebuild(topology: Topology): void {
    const scene = this.state.scene.value;
    if (!scene) return;
    this.view?.rebuild(scene, topology);
    this.askForElements();
  }

  private takeElements(elements: Elements): void {
    const { colorBy, kind } = this.state.look.value;
    if (colorBy === "partition" && kind === elements.kind) this.view?.showElements(elements);
  }

  private takeFrame(frame: Frame): void {
    this.received += 1;
    this.view?.take(frame);
    const { field, highest } = this.scale.value;
    if (frame.field !== field || frame.fieldScale !== highest) {
      this.scale.set({ field: frame.field, highest: frame.fieldScale });
    }
  }

  private fail({ about, message }: Failure): void {
    this.state.busy.set(null);
    this.state.notify({
      topic: about,
      title: TITLES[about] ?? `"${about}" was refused`,
      text: message,
      ...(about === "simulation"
        ? {
            action: {
              label: "Start over",
              run: () => {
                this.state.dismiss("simulation");
                this.connection?.send({ type: "reset" });
                this.connection?.send({ type: "resume" });
              },
            },
          }
        : {}),
    });
  }

  private askForField(): void {
    this.connection?.send({
      type: "want",
      field: fieldOf(this.state.look.value),
      precision: "auto",
    });
  }

  private askForElements(): void {
    const { colorBy, kind } = this.state.look.value;
    const scene = this.state.scene.value;
    if (colorBy !== "partition" || !scene || kind >= scene.kinds.length) return;
    this.connection?.send({ type: "elements", generation: scene.generation, kind });
  }
}

/** Edges show a partition best, so a kind with two particles comes first. */
function firstKind(scene: SceneInfo): number {
  return Math.max(
    0,
    scene.kinds.findIndex(({ arity }) => arity === 2),
  );
}
