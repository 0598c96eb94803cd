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
import { Fence } from "./pace";
import { PartitionLines } from "./partition";
import {
  Chooser,
  Detail,
  GRADES,
  Rhythm,
  SOFTWARE_MS,
  TICK_MS,
  TRAITS,
  type Grade,
} from "./quality";
import { Stage } from "./stage";

/** An empty stage is not worth the time that the first picture needs, unless none comes for so long. */
const EMPTY_AFTER_MS = 2000;
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
  private readonly detail: Detail;
  private grade: Grade | null = null;
  private readonly fence: Fence;
  private pending: Frame | null = null;
  private drawing: Picture | null = null;
  /** No turn of the loop comes before the picture is finished. */
  private isAsleep = false;
  private readonly rhythm: Rhythm;
  /** Frames that were drawn with the shadows of an earlier one; shadows have to be drawn anew. */
  private shadowAge = 0;
  private shadowsStale = true;
  private readonly drawnFrames: number[] = [];
  private frames = 0;
  private stale = true;
  private lost = false;
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
    const gl = this.stage.renderer.getContext() as WebGL2RenderingContext;
    this.fence = new Fence(gl, this.finished);
    const { inSoftware } = this.stage;
    this.rhythm = new Rhythm(inSoftware ? SOFTWARE_MS : 0);
    const first = GRADES.indexOf(inSoftware ? "least" : "full");
    this.detail = new Detail(new Chooser(first), () => state.quality.value);
    const { stage, bodies, obstacles, markers } = this;
    stage.resting.add(obstacles.group);
    stage.moving.add(bodies.mesh);
    stage.compile();
    // What the first picture does not need is compiled when it is shown.
    stage.moving.add(bodies.wires, this.lines.mesh, markers.group);
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
    requestAnimationFrame(this.loop);
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
    this.redraw();
    this.detail.forget();
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
    state.quality.subscribe(this.redraw);
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
    // What was not drawn to its end is drawn again: the server waits until it is acknowledged.
    this.pending ??= this.drawing?.frame ?? null;
    this.drawing = null;
    this.wake(0);
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
    this.stage.resize(box.width, box.height, TRAITS[this.grade ?? this.detail.grade].scale);
    this.lines.resize(box.width, box.height, box.width < 600 ? 1.4 : 1.8);
    this.stale = true;
  };

  private readonly applyLook = (): void => {
    const { look, theme, scene } = this.state;
    const tones = TONES[theme.value];
    this.stage.recolor(theme.value);
    this.castShadows();
    this.obstacles.recolor(tones.shape, tones.grid);
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

  private readonly redraw = (): void => {
    this.stale = true;
    this.shadowsStale = true;
  };

  /** Each turn costs a browser more than a millisecond: there is none while a picture is drawn. */
  private readonly loop = (): void => {
    this.tick();
    if (!this.fence.waiting || this.grabbing.active) requestAnimationFrame(this.loop);
    else this.isAsleep = true;
  };

  private wake(after: number): void {
    if (!this.isAsleep) return;
    this.isAsleep = false;
    // Rather a turn too early than one too late: timers are, often by some milliseconds.
    const early = after - TICK_MS / 2;
    if (early > 0) setTimeout(() => requestAnimationFrame(this.loop), early);
    else requestAnimationFrame(this.loop);
  }

  private tick(): void {
    const moved = this.stage.controls.update();
    this.grabbing.flush();
    this.stale ||= moved;
    const start = performance.now();
    // The event that tells of a lost context comes later than the loss.
    const isLost = this.lost || this.stage.renderer.getContext().isContextLost();
    if (isLost || this.fence.waiting || this.rhythm.wait(start) > 0) return;
    const frame = this.pending;
    if (!frame && !this.grade && start < EMPTY_AFTER_MS) return;
    if (frame !== null || this.stale) this.detail.changed(start);
    else if (!this.detail.refine(start) && !this.lacksShadows(start)) return;
    this.pending = null;
    this.stale = false;
    this.applyGrade(this.detail.grade);
    // Not for the first picture of a scene, which should come soon: it takes time to find few triangles.
    if (!this.fresh) this.bodies.limit(TRAITS[this.detail.grade].triangles);
    if (frame) this.show(frame);
    this.markers.update(this.stage.camera, this.bodies.places);
    const prepared = performance.now();
    this.stage.draw(this.needsShadows(frame !== null));
    const submitMs = performance.now() - prepared;
    this.drawing = { frame, start, prepareMs: prepared - start, submitMs };
    this.fence.start();
  }

  private applyGrade(grade: Grade): void {
    if (grade === this.grade) return;
    this.grade = grade;
    this.castShadows();
    this.resize();
    this.stale = false;
  }

  private castShadows(): void {
    const { shadows } = TRAITS[this.grade ?? this.detail.grade];
    this.stage.castShadows(this.state.look.value.shadows ? (shadows?.size ?? null) : null);
    this.shadowsStale = true;
  }

  /** Whether this picture needs new shadows: not if only the camera moves. */
  private needsShadows(hasMoved: boolean): boolean {
    const pictures = TRAITS[this.grade ?? "full"].shadows?.pictures ?? 1;
    if (hasMoved) this.shadowAge += 1;
    if (!this.shadowsStale && this.shadowAge < pictures) return false;
    this.shadowsStale = false;
    this.shadowAge = 0;
    return true;
  }

  /** Whether nothing moves any more, but shadows have not been told. */
  private lacksShadows(now: number): boolean {
    if (this.shadowAge === 0 || !this.detail.isStill(now)) return false;
    this.shadowsStale = true;
    return true;
  }

  /** The last picture is done; if it showed a new frame, that is acknowledged. */
  private readonly finished = (drawMs: number): void => {
    const { drawing } = this;
    if (!drawing) return;
    this.drawing = null;
    const { frame, start, prepareMs, submitMs } = drawing;
    const took = prepareMs + submitMs + drawMs;
    this.detail.took(took);
    this.rhythm.took(start, took);
    this.wake(this.rhythm.wait(performance.now()));
    if (frame !== null) {
      this.send({ type: "ack", frame: frame.number });
      this.count();
    }
    const { width, height } = this.stage.canvas;
    this.state.drawing.set({
      frames: this.frames,
      fps: (1000 * this.drawnFrames.length) / RATE_WINDOW_MS,
      prepareMs,
      submitMs,
      drawMs,
      quality: this.grade ?? "full",
      triangles: this.bodies.drawn,
      pixels: width * height,
    });
  };

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
    this.shadowsStale = true;
    this.groundHeight = this.obstacles.floor() ?? box.min.y - GROUND_BELOW * radius;
    this.stage.ground.place(this.groundHeight, radius, center);
    this.obstacles.surround(center, radius);
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
    this.shadowsStale = true;
    this.stage.fit(box, false);
  }

  /** A ground that is only drawn must not hide what falls through it. */
  private hideGround(frame: Frame): void {
    const { ground } = this.stage;
    const isFloor = this.obstacles.floor() !== null;
    ground.mesh.visible = isFloor || frame.low[1] >= this.groundHeight;
    // Of planes that cross each other only the parts in front are seen.
    ground.hides(isFloor && this.obstacles.hasSlopes);
  }

  private box(): Box3 {
    const box = new Box3();
    const place = new Vector3();
    const { places } = this.bodies;
    for (let i = 0; i < places.length; i += 3) box.expandByPoint(place.fromArray(places, i));
    this.obstacles.extend(box);
    return box;
  }

  private count(): void {
    this.frames += 1;
    const now = performance.now();
    this.drawnFrames.push(now);
    while (now - (this.drawnFrames[0] ?? now) >= RATE_WINDOW_MS) this.drawnFrames.shift();
  }
}

/** A picture that is being drawn: the frame that it shows first, if it does, and its costs. */
interface Picture {
  frame: Frame | null;
  start: number;
  prepareMs: number;
  submitMs: number;
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
