// What bodies collide with: meshes that move as a whole.

import {
  Box3,
  BufferAttribute,
  BufferGeometry,
  Color,
  DoubleSide,
  Group,
  Mesh,
  Vector3,
  type ShaderMaterial,
} from "three";
import { toCreasedNormals } from "three/addons/utils/BufferGeometryUtils.js";
import type { Frame, SceneInfo, ShapeInfo, Topology } from "../protocol";
import { litMaterial, type Backdrop } from "./shade";

/** Edges sharper than this (radians) are drawn sharp. */
const CREASE = 0.7;

export class Obstacles {
  readonly group = new Group();
  private readonly material: ShaderMaterial;
  private readonly color = { value: new Color() };
  private meshes: Mesh[] = [];

  constructor(backdrop: Backdrop) {
    this.material = litMaterial(backdrop, {
      uniforms: { tint: this.color },
      fragment: {
        declarations: "uniform vec3 tint;",
        code: "vec3 color = shade(tint, normal, vPlace, share);",
      },
    });
    this.material.side = DoubleSide;
    // Shaders depend on what points have: so they can be compiled before there are any.
    const nothing = new BufferGeometry();
    for (const name of ["position", "normal"]) {
      nothing.setAttribute(name, new BufferAttribute(new Float32Array(9), 3));
    }
    this.group.add(new Mesh(nothing, this.material));
  }

  rebuild(scene: SceneInfo, topology: Topology): void {
    for (const mesh of this.meshes) mesh.geometry.dispose();
    this.group.clear();
    this.meshes = scene.shapes.map((shape) => {
      const mesh = new Mesh(geometryOf(shape, topology), this.material);
      mesh.name = shape.name;
      mesh.castShadow = true;
      mesh.receiveShadow = true;
      return mesh;
    });
    if (this.meshes.length > 0) this.group.add(...this.meshes);
  }

  show(frame: Frame): void {
    this.meshes.forEach((mesh, i) => {
      const pose = frame.poses.subarray(7 * i, 7 * i + 7);
      if (pose.length < 7) return;
      mesh.position.fromArray(pose, 0);
      mesh.quaternion.fromArray(pose, 3);
      mesh.updateMatrixWorld();
      // A floor is drawn by the ground, which fades out instead of ending.
      mesh.visible = !isFloor(mesh);
    });
  }

  recolor(color: string): void {
    this.color.value.set(color);
  }

  /** Height of the highest floor, if the scene has one. */
  floor(): number | null {
    const floors = this.meshes.filter(isFloor).map((mesh) => mesh.position.y);
    return floors.length > 0 ? Math.max(...floors) : null;
  }

  /** Adds the obstacles, but not endless planes, to a box. */
  extend(box: Box3): void {
    const own = new Box3();
    for (const mesh of this.meshes) {
      if (!isFlat(mesh)) box.union(own.setFromObject(mesh));
    }
  }
}

function geometryOf(shape: ShapeInfo, topology: Topology): BufferGeometry {
  const from = 3 * shape.first_vertex;
  const vertices = topology.shapeVertices.slice(from, from + 3 * shape.vertices);
  const first = 3 * shape.first_triangle;
  const corners = topology.shapeTriangles.slice(first, first + 3 * shape.triangles);
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(vertices, 3));
  geometry.setIndex(
    new BufferAttribute(
      corners.map((corner) => corner - shape.first_vertex),
      1,
    ),
  );
  const creased = toCreasedNormals(geometry, CREASE);
  creased.computeBoundingBox();
  return creased;
}

function isFlat(mesh: Mesh): boolean {
  const size = mesh.geometry.boundingBox?.getSize(new Vector3()) ?? new Vector3();
  return Math.min(size.x, size.y, size.z) < 1e-6 * Math.max(size.x, size.y, size.z);
}

/** A plane that lies level. */
function isFloor(mesh: Mesh): boolean {
  if (!isFlat(mesh)) return false;
  const normal = mesh.geometry.getAttribute("normal");
  const up = new Vector3().fromBufferAttribute(normal, 0).applyQuaternion(mesh.quaternion);
  return Math.abs(up.y) > 0.999;
}
