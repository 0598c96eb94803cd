// Contract: binary messages are read as docs/viewer-protocol.md lays them out, without copies, and
// messages that are too short or too long are refused.

import { describe, expect, it } from "vitest";
import { decodeBinary, decodeText, ProtocolError, writePlaces, type Frame } from "./protocol";

class Writer {
  private readonly bytes: number[] = [];

  private raw(size: number, write: (view: DataView) => void): this {
    const view = new DataView(new ArrayBuffer(size));
    write(view);
    this.bytes.push(...new Uint8Array(view.buffer));
    return this;
  }

  u8 = (...values: number[]) => {
    this.bytes.push(...values);
    return this;
  };
  u16 = (...values: number[]) => {
    for (const v of values) this.raw(2, (view) => view.setUint16(0, v, true));
    return this;
  };
  u32 = (...values: number[]) => {
    for (const v of values) this.raw(4, (view) => view.setUint32(0, v, true));
    return this;
  };
  f32 = (...values: number[]) => {
    for (const v of values) this.raw(4, (view) => view.setFloat32(0, v, true));
    return this;
  };
  f64 = (value: number) => this.raw(8, (view) => view.setFloat64(0, value, true));
  pad = () => {
    while (this.bytes.length % 4 !== 0) this.bytes.push(0);
    return this;
  };
  get buffer(): ArrayBuffer {
    return Uint8Array.from(this.bytes).buffer;
  }
  get length(): number {
    return this.bytes.length;
  }
}

const header = (which: number, version = 1) => new Writer().u8(which, version).u16(0).u32(7);
const frameHeader = (precision: number, field: number, shapes: number) =>
  header(3)
    .u32(41, 12)
    .f64(0.25)
    .u8(precision, field)
    .u16(shapes)
    .f32(2.5)
    .f32(-1, 0, 1)
    .f32(1, 2, 3);
const points = (count: number) => (generation: number) => (generation === 7 ? count : undefined);

describe("frames", () => {
  it("have a header of 56 bytes", () => {
    expect(frameHeader(0, 0, 0).length).toBe(56);
  });

  it("of 32 bits are laid over the message", () => {
    const { buffer } = frameHeader(0, 0, 1).f32(1, 2, 3, 4, 5, 6).f32(9, 8, 7, 0, 0, 0, 1);
    const frame = decodeBinary(buffer, points(2)) as Frame;
    expect(frame).toMatchObject({ generation: 7, number: 41, step: 12, time: 0.25, field: "none" });
    expect([...frame.places]).toEqual([1, 2, 3, 4, 5, 6]);
    expect([...frame.poses]).toEqual([9, 8, 7, 0, 0, 0, 1]);
    expect(frame.places.buffer).toBe(buffer);
    expect(frame.fieldValues).toBeNull();
  });

  it("of 16 bits go from the low to the high corner, padded to 4 bytes", () => {
    const { buffer } = frameHeader(1, 2, 0).u16(0, 65535, 0).pad().u8(200).pad();
    const frame = decodeBinary(buffer, points(1)) as Frame;
    const places = new Float32Array(3);
    writePlaces(frame, places);
    expect([...places]).toEqual([-1, 2, 1]);
    expect(frame).toMatchObject({ field: "speed", fieldScale: 2.5 });
    expect([...(frame.fieldValues ?? [])]).toEqual([200]);
  });

  it("of another scene are dropped", () => {
    expect(decodeBinary(frameHeader(0, 0, 0).buffer, () => undefined)).toBeNull();
  });

  it("that are too short or too long are refused", () => {
    const short = frameHeader(0, 0, 0).f32(1, 2).buffer;
    const long = frameHeader(0, 0, 0).f32(1, 2, 3, 4).buffer;
    expect(() => decodeBinary(short, points(1))).toThrow(ProtocolError);
    expect(() => decodeBinary(long, points(1))).toThrow("4 bytes too many");
  });
});

describe("topology", () => {
  it("has triangles and the meshes of shapes", () => {
    const { buffer } = header(1).u32(3, 1, 1, 1).u32(0, 1, 2).f32(5, 6, 7).u32(0, 0, 0);
    expect(decodeBinary(buffer, points(3))).toEqual({
      type: "topology",
      generation: 7,
      points: 3,
      triangles: Uint32Array.of(0, 1, 2),
      shapeVertices: Float32Array.of(5, 6, 7),
      shapeTriangles: Uint32Array.of(0, 0, 0),
    });
  });
});

describe("elements", () => {
  it("have particles, phases, blocks and batches", () => {
    const { buffer } = header(2).u32(1, 2, 2).u32(0, 1, 1, 2).u32(0, 1).u32(3, 4).u32(5, 6);
    expect(decodeBinary(buffer, points(3))).toMatchObject({
      kind: 1,
      count: 2,
      arity: 2,
      particles: Uint32Array.of(0, 1, 1, 2),
      phases: Uint32Array.of(0, 1),
      blocks: Uint32Array.of(3, 4),
      batches: Uint32Array.of(5, 6),
    });
  });
});

describe("what is not in the protocol", () => {
  it("is refused", () => {
    expect(() => decodeBinary(header(4).buffer, points(1))).toThrow("kind 4");
    expect(() => decodeBinary(header(3, 2).buffer, points(1))).toThrow("version 2");
    expect(() => decodeText('{"type":"surprise"}')).toThrow("surprise");
    expect(() => decodeText("[]")).toThrow(ProtocolError);
  });
});
