// Colors by perceived lightness L, chroma C and hue h [Ottosson 2020, "A perceptual color space for
// image processing"]: equal steps look equal, so scales read right and partition colors stay apart.

export type Rgb = [number, number, number];

/** Linear sRGB of an OKLab color, possibly outside 0..1. */
function linear(L: number, a: number, b: number): Rgb {
  const l = (L + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (L - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (L - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ];
}

function encode(x: number): number {
  const c = Math.min(Math.max(x, 0), 1);
  return c <= 0.0031308 ? 12.92 * c : 1.055 * c ** (1 / 2.4) - 0.055;
}

/** sRGB bytes of a color; chroma is lowered until a screen can show it. `h` in degrees. */
export function oklch(L: number, C: number, h: number): Rgb {
  const angle = (h * Math.PI) / 180;
  for (let chroma = C; ; chroma -= 0.005) {
    const c = Math.max(chroma, 0);
    const rgb = linear(L, c * Math.cos(angle), c * Math.sin(angle));
    if (c === 0 || rgb.every((x) => x >= -1e-4 && x <= 1.0001)) {
      return rgb.map((x) => Math.round(255 * encode(x))) as Rgb;
    }
  }
}

/** OKLab of sRGB bytes, for distances. */
export function oklabOf([r, g, b]: Rgb): Rgb {
  const decode = (byte: number) => {
    const c = byte / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  };
  const [R, G, B] = [decode(r), decode(g), decode(b)];
  const l = Math.cbrt(0.4122214708 * R + 0.5363325363 * G + 0.0514459929 * B);
  const m = Math.cbrt(0.2119034982 * R + 0.6806995451 * G + 0.1073969566 * B);
  const s = Math.cbrt(0.0883024619 * R + 0.2817188376 * G + 0.6299787005 * B);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

export function hex([r, g, b]: Rgb): string {
  return `#${((r << 16) | (g << 8) | b).toString(16).padStart(6, "0")}`;
}
