// What server and page say to each other: docs/viewer-protocol.md, version 1.
// Decoding lays typed arrays over the message, so a frame of 100,000 points is read without a copy.

export const VERSION = 1;

export type Vector = [number, number, number];

export interface SceneEntry {
  name: string;
  title: string;
}

export interface Hello {
  type: "hello";
  version: number;
  taut: string;
  scenes: SceneEntry[];
  cores: number;
}

export interface BodyInfo {
  name: string;
  first_particle: number;
  particles: number;
  first_triangle: number;
  triangles: number;
  color: number;
}

export interface ShapeInfo {
  name: string;
  first_vertex: number;
  vertices: number;
  first_triangle: number;
  triangles: number;
  moving: boolean;
}

export interface KindInfo {
  kind: string;
  elements: number;
  arity: number;
  phases: number;
  blocks: number;
  batches: number;
  lower_bound: number;
  copies: number;
  sizes: number[];
}

export interface Settings {
  solver: string;
  partition: string;
  colors: number | null;
  iterations: number;
  substeps: number;
  dt: number;
  gravity: Vector;
  wind: Vector | null;
  relaxation: number;
  threads: number;
  backend: string;
}

export interface Choices {
  solver: string[];
  partition: string[];
  backend: string[];
}

export interface Grab {
  particle: number;
  target: Vector;
  pinned: boolean;
}

export interface SceneInfo {
  type: "scene";
  generation: number;
  name: string;
  title: string;
  particles: number;
  points: number;
  bodies: BodyInfo[];
  shapes: ShapeInfo[];
  kinds: KindInfo[];
  settings: Settings;
  choices: Choices;
  overrides: string[];
  bounds: [Vector, Vector];
  camera: { eye: Vector; target: Vector; fov: number } | null;
  grabs: Grab[];
}

export interface Residual {
  rms: number;
  max: number;
}

export interface Stats {
  type: "stats";
  generation: number;
  step: number;
  time: number;
  running: boolean;
  speed: number;
  rate: number;
  ms_per_step: number;
  stage_ms: Record<string, number>;
  residual: Record<string, Residual>;
  contacts: number;
  dropped_contacts: number;
  energy: { kinetic: number; potential: number };
  projections_per_second: number;
  particles_per_second: number;
  viewers: number;
  threads: number;
  frame_bytes: number;
  frame_ms: number;
}

export interface Failure {
  type: "error";
  message: string;
  about: string;
}

export type ServerText = Hello | SceneInfo | Stats | Failure;

export type Field = "none" | "strain" | "speed" | "contact";
const FIELDS: readonly Field[] = ["none", "strain", "speed", "contact"];

export interface Topology {
  type: "topology";
  generation: number;
  points: number;
  triangles: Uint32Array;
  shapeVertices: Float32Array;
  shapeTriangles: Uint32Array;
}

export interface Elements {
  type: "elements";
  generation: number;
  kind: number;
  count: number;
  arity: number;
  particles: Uint32Array;
  phases: Uint32Array;
  blocks: Uint32Array;
  batches: Uint32Array;
}

export interface Frame {
  type: "frame";
  generation: number;
  number: number;
  step: number;
  time: number;
  low: Vector;
  high: Vector;
  places: Float32Array | Uint16Array;
  field: Field;
  /** Value of the field that 255 stands for. */
  fieldScale: number;
  fieldValues: Uint8Array | null;
  /** Seven numbers a shape: place, then quaternion (x, y, z, w). */
  poses: Float32Array;
}

export type ServerBinary = Topology | Elements | Frame;

export type PageText =
  | { type: "ack"; frame: number }
  | { type: "want"; field: Field; precision: "auto" | "f32" | "u16" }
  | { type: "elements"; generation: number; kind: number }
  | { type: "pause" | "resume" | "reset" | "step" }
  | { type: "speed"; speed: number }
  | { type: "scene"; name: string }
  | { type: "load"; name: string; text: string; files?: Record<string, string> }
  | { type: "set"; overrides: string[] }
  | { type: "backend"; backend: string; threads: number }
  | { type: "grab" | "pin"; particle: number; target: Vector }
  | { type: "release"; particle: number };

/** A message that does not follow the protocol. */
export class ProtocolError extends Error {
  override name = "ProtocolError";
}

const TEXT_TYPES: readonly string[] = ["hello", "scene", "stats", "error"];

export function decodeText(text: string): ServerText {
  const message: unknown = JSON.parse(text);
  if (typeof message !== "object" || message === null || !("type" in message)) {
    throw new ProtocolError("a text message without a type");
  }
  const type = String(message.type);
  if (!TEXT_TYPES.includes(type)) throw new ProtocolError(`a text message of type ${type}`);
  return message as ServerText;
}

/** Walks through a message and fails, rather than reads on, where the message ends too early. */
class Reader {
  private at = 0;
  private readonly view: DataView;

  constructor(private readonly buffer: ArrayBuffer) {
    this.view = new DataView(buffer);
  }

  private take(bytes: number): number {
    const start = this.at;
    if (start + bytes > this.buffer.byteLength) {
      throw new ProtocolError(
        `a message of ${this.buffer.byteLength} bytes ends before byte ${start + bytes}`,
      );
    }
    this.at = start + bytes;
    return start;
  }

  u8 = (): number => this.view.getUint8(this.take(1));
  u16 = (): number => this.view.getUint16(this.take(2), true);
  u32 = (): number => this.view.getUint32(this.take(4), true);
  f32 = (): number => this.view.getFloat32(this.take(4), true);
  f64 = (): number => this.view.getFloat64(this.take(8), true);
  vector = (): Vector => [this.f32(), this.f32(), this.f32()];

  u32s = (count: number) => new Uint32Array(this.buffer, this.take(4 * count), count);
  f32s = (count: number) => new Float32Array(this.buffer, this.take(4 * count), count);
  u16s = (count: number) => new Uint16Array(this.buffer, this.take(padded(2 * count)), count);
  u8s = (count: number) => new Uint8Array(this.buffer, this.take(padded(count)), count);

  end(): void {
    if (this.at !== this.buffer.byteLength) {
      throw new ProtocolError(`${this.buffer.byteLength - this.at} bytes too many`);
    }
  }
}

function padded(bytes: number): number {
  return Math.ceil(bytes / 4) * 4;
}

/** `pointsOf` tells how many points the scene of a generation has, or undefined if it is not known. */
export function decodeBinary(
  buffer: ArrayBuffer,
  pointsOf: (generation: number) => number | undefined,
): ServerBinary | null {
  const reader = new Reader(buffer);
  const which = reader.u8();
  const version = reader.u8();
  if (version !== VERSION) throw new ProtocolError(`a message of version ${version}`);
  reader.u16();
  const generation = reader.u32();
  if (which === 1) return readTopology(reader, generation);
  if (which === 2) return readElements(reader, generation);
  if (which !== 3) throw new ProtocolError(`a binary message of kind ${which}`);
  const points = pointsOf(generation);
  // A frame of a scene that was left a moment ago: of no use any more.
  return points === undefined ? null : readFrame(reader, generation, points);
}

function readTopology(reader: Reader, generation: number): Topology {
  const points = reader.u32();
  const triangles = reader.u32();
  const shapeVertices = reader.u32();
  const shapeTriangles = reader.u32();
  const topology: Topology = {
    type: "topology",
    generation,
    points,
    triangles: reader.u32s(3 * triangles),
    shapeVertices: reader.f32s(3 * shapeVertices),
    shapeTriangles: reader.u32s(3 * shapeTriangles),
  };
  reader.end();
  return topology;
}

function readElements(reader: Reader, generation: number): Elements {
  const kind = reader.u32();
  const count = reader.u32();
  const arity = reader.u32();
  const elements: Elements = {
    type: "elements",
    generation,
    kind,
    count,
    arity,
    particles: reader.u32s(arity * count),
    phases: reader.u32s(count),
    blocks: reader.u32s(count),
    batches: reader.u32s(count),
  };
  reader.end();
  return elements;
}

function readFrame(reader: Reader, generation: number, points: number): Frame {
  const number = reader.u32();
  const step = reader.u32();
  const time = reader.f64();
  const precision = reader.u8();
  const field = FIELDS[reader.u8()];
  if (precision > 1 || field === undefined) throw new ProtocolError("a frame of unknown layout");
  const shapes = reader.u16();
  const fieldScale = reader.f32();
  const low = reader.vector();
  const high = reader.vector();
  const places = precision === 0 ? reader.f32s(3 * points) : reader.u16s(3 * points);
  const fieldValues = field === "none" ? null : reader.u8s(points);
  const poses = reader.f32s(7 * shapes);
  reader.end();
  return {
    type: "frame",
    generation,
    number,
    step,
    time,
    low,
    high,
    places,
    field,
    fieldScale,
    fieldValues,
    poses,
  };
}

/** Writes the places of a frame as meters into `out`. */
export function writePlaces(frame: Frame, out: Float32Array): void {
  const { places, low, high } = frame;
  if (places instanceof Float32Array) {
    out.set(places);
    return;
  }
  const [x0, y0, z0] = low;
  const sx = (high[0] - x0) / 65535;
  const sy = (high[1] - y0) / 65535;
  const sz = (high[2] - z0) / 65535;
  for (let i = 0; i < places.length; i += 3) {
    out[i] = x0 + sx * (places[i] ?? 0);
    out[i + 1] = y0 + sy * (places[i + 1] ?? 0);
    out[i + 2] = z0 + sz * (places[i + 2] ?? 0);
  }
}
