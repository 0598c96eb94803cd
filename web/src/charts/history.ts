// What charts show: the last values of several series, in the order in which they came.

export type Column = (number | null)[];

export class History {
  readonly times: number[] = [];
  private readonly columns = new Map<string, Column>();

  constructor(private readonly capacity: number) {}

  /** Series that were ever pushed, in the order of their first value. */
  get names(): string[] {
    return [...this.columns.keys()];
  }

  column(name: string): Column {
    return this.columns.get(name) ?? this.times.map(() => null);
  }

  push(time: number, values: Record<string, number>): void {
    // A series that starts late, such as contacts, has no values before.
    for (const name of Object.keys(values)) {
      if (!this.columns.has(name))
        this.columns.set(
          name,
          this.times.map(() => null),
        );
    }
    this.times.push(time);
    for (const [name, column] of this.columns) column.push(values[name] ?? null);
    if (this.times.length <= this.capacity) return;
    this.times.shift();
    for (const column of this.columns.values()) column.shift();
  }

  clear(): void {
    this.times.length = 0;
    this.columns.clear();
  }
}

/** Each series on top of those before it; a missing value counts as 0. */
export function stacked(columns: readonly Column[]): number[][] {
  const height: number[] = [];
  return columns.map((column) =>
    column.map((value, i) => (height[i] = (height[i] ?? 0) + (value ?? 0))),
  );
}

/** A logarithmic scale cannot show 0: no error at all is a gap. */
export function positive(column: Column): Column {
  return column.map((value) => (value !== null && value > 0 ? value : null));
}
