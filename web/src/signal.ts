// A value that tells its listeners when it changes: all the state of the page is made of these.

export type Listener<T> = (value: T) => void;

export class Signal<T> {
  private readonly listeners = new Set<Listener<T>>();

  constructor(private current: T) {}

  get value(): T {
    return this.current;
  }

  set(value: T): void {
    if (Object.is(value, this.current)) return;
    this.current = value;
    for (const listener of [...this.listeners]) listener(value);
  }

  update(change: (value: T) => T): void {
    this.set(change(this.current));
  }

  /** Calls the listener with every later value; the answer ends that. */
  subscribe(listener: Listener<T>): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** As `subscribe`, and with the present value at once. */
  watch(listener: Listener<T>): () => void {
    listener(this.current);
    return this.subscribe(listener);
  }
}
