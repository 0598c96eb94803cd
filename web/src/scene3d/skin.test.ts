// Contract: a skin shows all points of a surface, or those of a coarse one and no others, where they are.

import { describe, expect, it } from "vitest";
import { Skin, type PointData } from "./skin";

/** Five points; the third one belongs to no triangle of the coarse surface. */
function points(): PointData {
  const places = Float32Array.from([0, 0, 0, 1, 0, 0, 9, 9, 9, 0, 2, 0, 1, 2, 0]);
  const field = Uint8Array.from([10, 20, 30, 40, 50]);
  const tints = Float32Array.from({ length: 15 }, (_, i) => i);
  return { places, field, tints };
}

const COARSE = Uint32Array.of(0, 1, 3, 1, 4, 3);

/** What corners of the triangles have. */
function at(skin: Skin, name: string): number[][] {
  const attribute = skin.geometry.getAttribute(name);
  const corners = [...(skin.geometry.index?.array ?? [])];
  return corners.map((i) =>
    [...attribute.array].slice(attribute.itemSize * i, attribute.itemSize * (i + 1)),
  );
}

describe("the skin of a coarse surface", () => {
  it("has its own points only, where they are now", () => {
    const all = points();
    const skin = new Skin(COARSE, all, false);
    all.places[0] = -3;
    skin.show(all);
    skin.showField(all);
    expect(skin.geometry.getAttribute("position").count).toBe(4);
    const place = (point: number) => [...all.places.subarray(3 * point, 3 * point + 3)];
    const corners = [...COARSE];
    expect(at(skin, "position")).toEqual(expect.arrayContaining(corners.map(place)));
    const fields = at(skin, "field").map(([value]) => value);
    expect(fields.toSorted()).toEqual(corners.map((i) => all.field[i]).toSorted());
    const tints = at(skin, "tint").map(([red]) => red);
    expect(tints.toSorted()).toEqual(corners.map((i) => 3 * i).toSorted());
    for (const normal of at(skin, "normal")) expect(normal).toEqual([0, 0, 1]);
    expect(skin.edge).toBeCloseTo((4 + Math.hypot(1, 2)) / 2);
  });

  it("has new values when points have moved", () => {
    const all = points();
    const skin = new Skin(COARSE, all, false);
    const before = skin.position.version;
    skin.show(all);
    expect(skin.position.version).toBeGreaterThan(before);
  });
});

describe("the skin of the surface itself", () => {
  it("has the triangles and the places themselves", () => {
    const all = points();
    const skin = new Skin(COARSE, all, true);
    expect(skin.position.array).toBe(all.places);
    expect(skin.geometry.index?.array).toBe(COARSE);
  });
});
