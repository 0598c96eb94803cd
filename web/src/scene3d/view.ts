// The picture: takes what the server sends and what the user wants to see, and draws when either
// changes. Nothing is drawn, and nothing acknowledged, while the page is hidden.

import { Box3, Sphere, Vector3 } from "three";
import type { Elements, Field, Frame, PageText, SceneInfo, Topology } from "../protocol";
import { TONES } from "../color/look";
import type { Look, State } from "../state";
import { Bodies } from "./bodies";
import { Grabbing } from "./grabbing";
import { Markers } from "./markers";
import { Obstacles } from "./obstacles";
import { Fence, Resolution } from "./pace";
import { PartitionLines } from "./partition";
import { Stage } from "./stage";

/** After so long without a change the picture is drawn once more, in full resolution. */
const STILL_MS = 300;
/** A scene that grows by so much is fitted again, and how far that may go. */
const GROWN = 1.15;
const MOST_GROWN = 3;
/** How far below a scene without a floor a ground is drawn, in radii of the scene. */
const GROUND_BELOW = 0.4;
/** A picture is counted into the frame rate of the last second. */
const RATE_WINDOW_MS = 1000;

export class View {
  readonly stage: Stage;
  readonly grabbing: Grabbing;
  readonly lines = new PartitionLines();
  readonly bodies: Bodies;
  private readonly obstacles: Obstacles;
  private readonly markers = new Markers();
  private readonly resolution = new Resolution();
  private readonly fence: Fence;
  private pending: Frame | null = null;
  private drawing: { frame: number; prepareMs: number; submitMs: number } | null = null;
  private readonly drawnFrames: number[] = [];
  private frames = 0;
  private stale = true;
  private lost = false;
  private refined = false;
  private lastChange = 0;
  private fresh = false;
  private groundHeight = 0;
  private shownName: string | null = null;
  private known = false;
  private fitted = { first: 0, now: 0 };
  private touched = false;

  constructor(
    canvas: HTMLCanvasElement,
    private readonly state: State,
    private readonly send: (message: PageText) => boolean,
  ) {
    this.stage = new Stage(canvas);
    this.bodies = new Bodies(this.stage.backdrop);
    this.obstacles = new Obstacles(this.stage.backdrop);
    this.fence = new Fence(this.stage.renderer.getContext() as WebGL2RenderingContext);
    const { stage, bodies, obstacles, markers } = this;
    stage.scene.add(bodies.mesh, bodies.wires, obstacles.group, this.lines.mesh, markers.group);
    this.grabbing = new Grabbing(
      { stage, bodies, obstacles, markers },
      {
        send,
        grabs: () => state.grabs.value,
        setGrabs: (grabs) => state.grabs.set(grabs),
        particles: () => state.scene.value?.particles ?? 0,
      },
    );
    this.listen(canvas);
    this.stage.renderer.setAnimationLoop(this.tick);
  }

  /** Takes another scene, or the same one after a reconnect: then the camera stays where it is. */
  rebuild(scene: SceneInfo, topology: Topology): void {
    this.known = scene.name === this.shownName;
    this.shownName = scene.name;
    this.bodies.rebuild(scene, topology);
    this.obstacles.rebuild(scene, topology);
    this.lines.clear();
    this.pending = null;
    this.fresh = true;
    this.stale = true;
  }

  showElements(elements: Elements): void {
    const kind = this.state.scene.value?.kinds[elements.kind]?.kind;
    this.lines.rebuild(elements, this.bodies.places.length / 3, kind === "bend");
    this.applyLook();
  }

  /** Takes a frame; only the newest is drawn. */
  take(frame: Frame): void {
    this.pending = frame;
  }

  fit(fromFront = false): void {
    this.stage.fit(this.box(), fromFront);
    this.stale = true;
  }

  /** Where a point is on the screen, in CSS pixels of the window. */
  project(point: number): [number, number] {
    const place = new Vector3().fromArray(this.bodies.places, 3 * point);
    place.project(this.stage.camera);
    const { left, top, width, height } = this.stage.canvas.getBoundingClientRect();
    return [left + ((place.x + 1) / 2) * width, top + ((1 - place.y) / 2) * height];
  }

  private listen(canvas: HTMLCanvasElement): void {
    const { state } = this;
    state.look.watch(this.applyLook);
    state.theme.watch(this.applyLook);
    state.grabs.watch((grabs) => {
      this.markers.set(grabs);
      this.stale = true;
    });
    this.stage.controls.addEventListener("change", () => {
      this.stale = true;
    });
    for (const type of ["pointerdown", "wheel"]) {
      canvas.addEventListener(type, () => (this.touched = true), { passive: true });
    }
    new ResizeObserver(this.resize).observe(canvas.parentElement ?? canvas);
    this.resize();
    canvas.addEventListener("webglcontextlost", this.contextLost);
    canvas.addEventListener("webglcontextrestored", this.contextRestored);
  }

  private readonly contextLost = (event: Event): void => {
    event.preventDefault();
    this.lost = true;
    this.fence.drop();
    this.state.notify({
      topic: "graphics",
      title: "The graphics context was lost",
      text: "The graphics driver restarted or ran out of memory. The simulation goes on; the picture comes back as soon as the browser allows.",
      action: {
        label: "Reload the page",
        run: () => location.reload(),
      },
    });
  };

  private readonly contextRestored = (): void => {
    this.lost = false;
    this.stale = true;
    this.state.dismiss("graphics");
    this.applyLook();
  };

  private readonly resize = (): void => {
    const box = this.stage.canvas.parentElement?.getBoundingClientRect();
    if (!box || box.width === 0 || box.height === 0) return;
    this.stage.resize(box.width, box.height, this.refined ? 1 : this.resolution.scale);
    this.lines.resize(box.width, box.height, box.width < 600 ? 1.4 : 1.8);
    this.stale = true;
  };

  private readonly applyLook = (): void => {
    const { look, theme, scene } = this.state;
    const tones = TONES[theme.value];
    this.stage.recolor(theme.value);
    this.stage.castShadows(look.value.shadows);
    this.obstacles.recolor(tones.shape);
    this.bodies.showWires(look.value.wireframe, tones.wire);
    const { colorBy } = look.value;
    const partition = colorBy === "partition";
    this.bodies.mesh.visible = !partition || look.value.surface;
    if (partition) this.bodies.paintPlain(tones.plain);
    else if (colorBy === "material") this.bodies.paintMaterial();
    else this.bodies.paintField(colorBy);
    this.lines.mesh.visible = partition && this.lines.ready;
    if (this.lines.mesh.visible) {
      const phases = scene.value?.kinds[look.value.kind]?.phases ?? 1;
      this.lines.paint(look.value.level, phases);
      this.lines.isolate(alone(look.value), look.value.hideRest, tones.rest);
      this.lines.show(this.bodies.places);
    }
    this.stale = true;
  };

  private readonly tick = (): void => {
    const moved = this.stage.controls.update();
    this.grabbing.flush();
    this.stale ||= moved;
    if (this.lost || !this.finish()) return;
    const frame = this.pending;
    const start = performance.now();
    const changed = frame !== null || this.stale;
    if (!changed && !this.refine(start)) return;
    if (changed) this.coarsen(start);
    this.pending = null;
    this.stale = false;
    if (frame) this.show(frame);
    this.markers.update(this.stage.camera, this.bodies.places);
    const prepared = performance.now();
    this.stage.draw();
    this.fence.start();
    if (!frame) return;
    const submitMs = performance.now() - prepared;
    this.drawing = { frame: frame.number, prepareMs: prepared - start, submitMs };
  };

  /** Whether the picture should be drawn once more, finer: nothing moves, so time does not matter. */
  private refine(now: number): boolean {
    const due = !this.refined && this.resolution.scale < 1 && now - this.lastChange > STILL_MS;
    if (!due) return false;
    this.refined = true;
    this.resize();
    return true;
  }

  private coarsen(now: number): void {
    this.lastChange = now;
    if (!this.refined) return;
    this.refined = false;
    this.resize();
  }

  /** Whether the last picture is done; if so, its frame is acknowledged. */
  private finish(): boolean {
    const took = this.fence.finished();
    if (took === null) return !this.fence.waiting;
    if (!this.refined && this.resolution.took(took)) this.resize();
    if (!this.drawing) return true;
    this.send({ type: "ack", frame: this.drawing.frame });
    this.count({ ...this.drawing, drawMs: took });
    this.drawing = null;
    return true;
  }

  private show(frame: Frame): void {
    this.bodies.show(frame);
    this.obstacles.show(frame);
    this.lines.show(this.bodies.places);
    if (this.fresh) this.arrange();
    else this.follow(frame);
    this.hideGround(frame);
  }

  /** The first frame of a scene: the camera, the light and the ground find their places. */
  private arrange(): void {
    this.fresh = false;
    const scene = this.state.scene.value;
    const box = this.box();
    const { center, radius } = box.getBoundingSphere(new Sphere());
    this.stage.light(box);
    this.groundHeight = this.obstacles.floor() ?? box.min.y - GROUND_BELOW * radius;
    this.stage.ground.place(this.groundHeight, radius, center.x, center.z);
    this.fitted = { first: radiusOf(box), now: radiusOf(box) };
    if (this.known) return;
    this.touched = scene?.camera != null;
    if (scene?.camera) {
      const { eye, target, fov } = scene.camera;
      this.stage.aim(new Vector3(...target), new Vector3(...eye), fov);
    } else this.stage.fit(box, true);
  }

  /** Until somebody takes the camera, it steps back from what unfolds. */
  private follow(frame: Frame): void {
    if (this.touched) return;
    const box = new Box3(new Vector3(...frame.low), new Vector3(...frame.high));
    this.obstacles.extend(box);
    const radius = radiusOf(box);
    if (radius < GROWN * this.fitted.now || radius > MOST_GROWN * this.fitted.first) return;
    this.fitted.now = radius;
    this.stage.light(box);
    this.stage.fit(box, false);
  }

  /** A ground that is only drawn must not hide what falls through it. */
  private hideGround(frame: Frame): void {
    this.stage.ground.mesh.visible =
      this.obstacles.floor() !== null || frame.low[1] >= this.groundHeight;
  }

  private box(): Box3 {
    const box = new Box3();
    const place = new Vector3();
    const { places } = this.bodies;
    for (let i = 0; i < places.length; i += 3) box.expandByPoint(place.fromArray(places, i));
    this.obstacles.extend(box);
    return box;
  }

  private count(costs: { prepareMs: number; submitMs: number; drawMs: number }): void {
    this.frames += 1;
    const now = performance.now();
    this.drawnFrames.push(now);
    while (now - (this.drawnFrames[0] ?? now) >= RATE_WINDOW_MS) this.drawnFrames.shift();
    const fps = (1000 * this.drawnFrames.length) / RATE_WINDOW_MS;
    const { prepareMs, submitMs, drawMs } = costs;
    this.state.drawing.set({ frames: this.frames, fps, prepareMs, submitMs, drawMs });
  }
}

function radiusOf(box: Box3): number {
  return box.getBoundingSphere(new Sphere()).radius;
}

function alone(look: Look): number | null {
  return look.alone ? look.phase : null;
}

/** The field that the server must send for this look. */
export function fieldOf(look: Look): Field {
  return look.colorBy === "material" || look.colorBy === "partition" ? "none" : look.colorBy;
}
