// What a user can do, once: buttons, shortcuts and menus all come here.

import type { Connection } from "./connection";
import type { Vector } from "./protocol";
import type { ColorBy, State } from "./state";

export const SPEEDS: readonly { speed: number; label: string }[] = [
  { speed: 0.1, label: "0.1×" },
  { speed: 0.25, label: "¼×" },
  { speed: 0.5, label: "½×" },
  { speed: 1, label: "1×" },
  { speed: 2, label: "2×" },
  { speed: 0, label: "max" },
];

export const COLORS_BY: readonly ColorBy[] = [
  "material",
  "partition",
  "strain",
  "speed",
  "contact",
];

const MESH_ENDINGS = [".obj", ".msh", ".node", ".ele"];

export class Commands {
  constructor(
    private readonly state: State,
    private readonly connection: Connection,
  ) {}

  togglePause(): void {
    this.connection.send({ type: this.state.stats.value?.running ? "pause" : "resume" });
  }

  step(): void {
    this.connection.send({ type: "step" });
  }

  reset(): void {
    this.state.dismiss("simulation");
    this.connection.send({ type: "reset" });
  }

  speed(speed: number): void {
    this.connection.send({ type: "speed", speed });
  }

  /** One faster (1) or one slower (-1) of the speeds on offer. */
  changeSpeed(by: 1 | -1): void {
    const now = SPEEDS.findIndex(({ speed }) => speed === this.state.stats.value?.speed);
    const next = SPEEDS[Math.min(Math.max(now + by, 0), SPEEDS.length - 1)];
    if (next) this.speed(next.speed);
  }

  set(key: string, value: string): void {
    this.state.dismiss("set");
    this.connection.send({ type: "set", overrides: [`${key}=${value}`] });
    this.building("the model");
  }

  setVector(key: string, vector: Vector): void {
    this.set(key, `[${vector.join(", ")}]`);
  }

  backend(backend: string, threads: number): void {
    this.connection.send({ type: "backend", backend, threads });
    this.building("the model");
  }

  openScene(name: string): void {
    this.loading(name);
    this.connection.send({ type: "scene", name });
  }

  /** A scene with the meshes it names, or one mesh alone. */
  async openFiles(files: readonly File[]): Promise<void> {
    const main = mainFile(files.map((file) => file.name));
    const chosen = files.find((file) => file.name === main);
    if (!chosen) {
      this.state.notify({
        topic: "load",
        title: "Nothing to load",
        text: `A scene (.toml) or a mesh (.obj) is needed, with the meshes that the scene names.\nGot: ${files.map((file) => file.name).join(", ") || "no file"}`,
      });
      return;
    }
    this.loading(chosen.name);
    const others = files.filter((file) => file !== chosen);
    const texts = await Promise.all(others.map(async (file) => [file.name, await file.text()]));
    const meshes = Object.fromEntries(texts) as Record<string, string>;
    const load = { type: "load", name: chosen.name, text: await chosen.text() } as const;
    this.connection.send(others.length > 0 ? { ...load, files: meshes } : load);
  }

  colorBy(colorBy: ColorBy): void {
    this.state.setLook({ colorBy });
  }

  cycleColors(): void {
    const now = COLORS_BY.indexOf(this.state.look.value.colorBy);
    this.colorBy(COLORS_BY[(now + 1) % COLORS_BY.length] ?? "material");
  }

  /** Shows one phase alone: the next (1) or the one before (-1). */
  changePhase(by: 1 | -1): void {
    const { kind, phase, alone, colorBy } = this.state.look.value;
    const phases = this.state.scene.value?.kinds[kind]?.phases ?? 1;
    const next = alone && colorBy === "partition" ? (phase + by + phases) % phases : phase;
    this.state.setLook({ colorBy: "partition", alone: true, phase: next });
  }

  private loading(name: string): void {
    this.state.dismiss("load");
    this.state.dismiss("simulation");
    this.building(name);
  }

  /** Until the server says what came of it, the picture stands still; large models take seconds. */
  private building(what: string): void {
    if (this.connection.link.value.state === "open") this.state.busy.set(`Building ${what} …`);
  }
}

/** The file that is loaded; the others go along with it. */
export function mainFile(names: readonly string[]): string | undefined {
  const ending = (end: string) => names.find((name) => name.toLowerCase().endsWith(end));
  return [".toml", ...MESH_ENDINGS].map(ending).find((name) => name !== undefined);
}
