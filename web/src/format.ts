// Numbers for people.

const PREFIXES = ["", "k", "M", "G", "T"];

/** Three digits and a prefix: 12345678 is "12.3 M". */
export function short(value: number): string {
  if (!Number.isFinite(value)) return "–";
  let scaled = Math.abs(value);
  let prefix = 0;
  while (scaled >= 999.5 && prefix < PREFIXES.length - 1) {
    scaled /= 1000;
    prefix += 1;
  }
  const text = prefix === 0 ? String(Number(scaled.toPrecision(3))) : scaled.toPrecision(3);
  const unit = PREFIXES[prefix] ?? "";
  return `${value < 0 ? "−" : ""}${text}${unit === "" ? "" : ` ${unit}`}`;
}

/** Milliseconds with as many digits as are of use. */
export function milliseconds(value: number): string {
  return `${value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2)} ms`;
}

export function whole(value: number): string {
  return value.toLocaleString("en-US");
}
