// What bodies collide with: meshes that move as a whole.

import {
  Box3,
  BufferAttribute,
  BufferGeometry,
  Color,
  DoubleSide,
  Group,
  type Material,
  Mesh,
  MeshBasicMaterial,
  Vector3,
  type ShaderMaterial,
} from "three";
import { toCreasedNormals } from "three/addons/utils/BufferGeometryUtils.js";
import type { Frame, SceneInfo, ShapeInfo, Topology } from "../protocol";
import { Ground } from "./ground";
import { litMaterial, type Backdrop } from "./shade";

/** Of what is not drawn: from behind a plane is not there. */
const ONE_SIDED = new MeshBasicMaterial();

/** Edges sharper than this (radians) are drawn sharp, as in pictures (crates/render/src/geometry.rs). */
const CREASE = Math.acos(0.2);

export class Obstacles {
  readonly group = new Group();
  private readonly material: ShaderMaterial;
  private readonly color = { value: new Color() };
  private meshes: Mesh[] = [];
  /** What is drawn of the planes that are not level, by their meshes. */
  private readonly slopes = new Map<Mesh, Ground>();
  private grid = "";
  private around = { center: new Vector3(), radius: 1 };

  constructor(private readonly backdrop: Backdrop) {
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
    for (const { geometry } of this.meshes) geometry.dispose();
    for (const slope of this.slopes.values()) slope.dispose();
    this.slopes.clear();
    this.group.clear();
    this.meshes = scene.shapes.map((shape) => {
      const mesh = new Mesh<BufferGeometry, Material>(geometryOf(shape, topology), this.material);
      mesh.name = shape.name;
      mesh.castShadow = true;
      mesh.receiveShadow = true;
      // A part of a plane only shields what is behind it from the pointer.
      if (isFlat(mesh)) {
        mesh.material = ONE_SIDED;
        mesh.visible = false;
      }
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
      if (isFlat(mesh)) this.showSlope(mesh);
    });
  }

  /** What the scene is about: endless planes are drawn around it. */
  surround(center: Vector3, radius: number): void {
    this.around = { center, radius };
    for (const mesh of this.slopes.keys()) this.showSlope(mesh);
  }

  /** Whether there are planes that are not level. */
  get hasSlopes(): boolean {
    return [...this.slopes.values()].some(({ mesh }) => mesh.visible);
  }

  recolor(color: string, grid: string): void {
    this.color.value.set(color);
    this.grid = grid;
    for (const slope of this.slopes.values()) slope.recolor(grid);
  }

  /** Shows a plane without end; one that is level is drawn by the ground. */
  private showSlope(plane: Mesh): void {
    const isSlope = !isFloor(plane);
    let slope = this.slopes.get(plane);
    if (isSlope && !slope) {
      slope = new Ground(this.backdrop);
      slope.hides(true);
      slope.recolor(this.grid);
      this.slopes.set(plane, slope);
      this.group.add(slope.mesh);
    }
    if (!slope) return;
    slope.mesh.visible = isSlope;
    slope.follow(plane.matrixWorld, this.around.radius, this.around.center);
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
