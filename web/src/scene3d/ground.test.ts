// Contract: a plane is drawn around the place on it that is nearest to what the scene is about, and
// faces the side that it pushes to.

import { Euler, Matrix4, Quaternion, Vector3 } from "three";
import { describe, expect, it } from "vitest";
import { Ground } from "./ground";
import { Backdrop } from "./shade";

/** Which way the front of what is drawn faces. */
function front({ mesh }: Ground): Vector3 {
  return new Vector3(0, 0, 1).applyQuaternion(mesh.quaternion);
}

function away(a: Vector3, b: Vector3): number {
  return a.distanceTo(b);
}

describe("a plane without end", () => {
  it("that is level lies below the scene", () => {
    const ground = new Ground(new Backdrop());
    ground.place(-2, 3, new Vector3(5, 7, 6));
    expect(away(ground.mesh.position, new Vector3(5, -2, 6))).toBeLessThan(1e-6);
    expect(away(front(ground), new Vector3(0, 1, 0))).toBeLessThan(1e-6);
  });

  it("that is a slope passes through its place, nearest to the scene", () => {
    const turn = new Quaternion().setFromEuler(new Euler(0.2, 0, 0.5));
    const up = new Vector3(0, 1, 0).applyQuaternion(turn);
    const [place, center] = [new Vector3(10, 1, -4), new Vector3(1, 2, 3)];
    const ground = new Ground(new Backdrop());
    ground.follow(new Matrix4().makeRotationFromQuaternion(turn).setPosition(place), 2, center);
    const { position } = ground.mesh;
    expect(away(front(ground), up)).toBeLessThan(1e-6);
    expect(position.clone().sub(place).dot(up)).toBeCloseTo(0, 6);
    expect(position.clone().sub(center).cross(up).length()).toBeCloseTo(0, 6);
  });
});
