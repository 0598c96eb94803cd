// Grabbing particles: press on a body and drag, in the plane parallel to the screen. P pins what is
// dragged; a click on a pin lets it go. Everything else turns the camera.

import { Plane, Raycaster, Vector2, Vector3 } from "three";
import type { Grab, PageText, Vector } from "../protocol";
import type { Bodies } from "./bodies";
import type { Markers } from "./markers";
import type { Obstacles } from "./obstacles";
import type { Stage } from "./stage";
import { castRay, nearestParticle } from "./surface";

export interface Hands {
  send: (message: PageText) => boolean;
  grabs: () => readonly Grab[];
  setGrabs: (grabs: readonly Grab[]) => void;
  particles: () => number;
}

interface Parts {
  stage: Stage;
  bodies: Bodies;
  obstacles: Obstacles;
  markers: Markers;
}

export class Grabbing {
  private dragged: { particle: number; target: Vector; event: PointerEvent } | null = null;
  private moved = false;
  private readonly plane = new Plane();
  private readonly ray = new Raycaster();

  constructor(
    private readonly parts: Parts,
    private readonly hands: Hands,
  ) {
    const { canvas } = parts.stage;
    // Before the camera's controls hear of it: they must not turn while something is dragged.
    const capture = { capture: true };
    canvas.parentElement?.addEventListener("pointerdown", this.press, capture);
    canvas.addEventListener("pointermove", this.drag);
    canvas.addEventListener("pointerup", this.drop);
    canvas.addEventListener("pointercancel", this.drop);
  }

  get active(): boolean {
    return this.dragged !== null;
  }

  /** Sends where the dragged particle should go; called once per picture, however often it moved. */
  flush(): void {
    if (!this.dragged || !this.moved) return;
    this.moved = false;
    const { particle, target } = this.dragged;
    this.hands.send({ type: "grab", particle, target });
  }

  /** Leaves the dragged particle pinned where it is held. */
  pin(): boolean {
    if (!this.dragged) return false;
    const { particle, target } = this.dragged;
    this.hands.send({ type: "pin", particle, target });
    this.replace(particle, { particle, target, pinned: true });
    this.finish();
    return true;
  }

  private readonly press = (event: PointerEvent): void => {
    // Its own events, see below, are for the camera.
    if (event.target !== this.parts.stage.canvas || !event.isTrusted) return;
    if (this.dragged) {
      this.handOver(this.dragged.event);
      return;
    }
    if (event.button !== 0 || event.shiftKey) return;
    const at = this.locate(event);
    const pin = this.parts.markers.pinAt(at.x, at.y, at, this.parts.stage.camera);
    if (pin) {
      this.release(pin.particle);
      this.parts.stage.controls.enabled = false;
      return;
    }
    const found = this.find();
    if (found) this.start(event, found.particle, found.place);
  };

  private readonly drag = (event: PointerEvent): void => {
    if (event.pointerId !== this.dragged?.event.pointerId) return;
    this.dragged.event = event;
    this.locate(event);
    const target = this.ray.ray.intersectPlane(this.plane, new Vector3());
    if (!target) return;
    this.dragged.target = target.toArray();
    this.moved = true;
    const { particle } = this.dragged;
    this.replace(particle, { particle, target: this.dragged.target, pinned: false });
  };

  private readonly drop = (event: PointerEvent): void => {
    this.parts.stage.controls.enabled = true;
    if (event.pointerId === this.dragged?.event.pointerId) this.letGo();
  };

  private start(event: PointerEvent, particle: number, place: Vector3): void {
    const { stage } = this.parts;
    const facing = stage.camera.getWorldDirection(new Vector3());
    this.plane.setFromNormalAndCoplanarPoint(facing, place);
    this.dragged = { particle, target: place.toArray(), event };
    this.moved = true;
    this.replace(particle, { particle, target: this.dragged.target, pinned: false });
    stage.controls.enabled = false;
    stage.canvas.setPointerCapture(event.pointerId);
    stage.canvas.classList.add("grabbing");
  }

  /** The particle under the pointer, unless an obstacle is in front. */
  private find(): { particle: number; place: Vector3 } | null {
    const { bodies, obstacles } = this.parts;
    const { origin, direction } = this.ray.ray;
    const hit = castRay(bodies.places, bodies.triangles, origin.toArray(), direction.toArray());
    if (!hit) return null;
    const blocked = this.ray.intersectObject(obstacles.group)[0];
    if (blocked && blocked.distance < hit.distance) return null;
    const corners = bodies.triangles.subarray(3 * hit.triangle, 3 * hit.triangle + 3);
    const particles = this.hands.particles();
    const particle = nearestParticle(bodies.places, hit.place, particles, [...corners]);
    return { particle, place: new Vector3().fromArray(bodies.places, 3 * particle) };
  }

  /** Points the ray through the pointer; the answer is in CSS pixels of the canvas. */
  private locate(event: PointerEvent) {
    const { canvas, camera } = this.parts.stage;
    const { left, top, width, height } = canvas.getBoundingClientRect();
    const x = event.clientX - left;
    const y = event.clientY - top;
    this.ray.setFromCamera(new Vector2((2 * x) / width - 1, 1 - (2 * y) / height), camera);
    return { x, y, width, height };
  }

  /**
   * A second finger comes: both move the camera, and what the first one holds falls. The camera has not
   * heard of the first finger, so that one goes down again where it is now.
   */
  private handOver(first: PointerEvent): void {
    this.letGo();
    const { pointerId, pointerType, button, clientX, clientY } = first;
    const down = { pointerId, pointerType, button, clientX, clientY, bubbles: true };
    this.parts.stage.canvas.dispatchEvent(new PointerEvent("pointerdown", down));
  }

  private letGo(): void {
    if (!this.dragged) return;
    this.release(this.dragged.particle);
    this.finish();
  }

  private release(particle: number): void {
    this.hands.send({ type: "release", particle });
    this.replace(particle, null);
  }

  private finish(): void {
    this.dragged = null;
    this.moved = false;
    this.parts.stage.controls.enabled = true;
    this.parts.stage.canvas.classList.remove("grabbing");
  }

  private replace(particle: number, grab: Grab | null): void {
    const others = this.hands.grabs().filter((other) => other.particle !== particle);
    this.hands.setGrabs(grab ? [...others, grab] : others);
  }
}
