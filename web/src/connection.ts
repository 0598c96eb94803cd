// The WebSocket, which comes back by itself: a server that is restarted is found again.

import {
  decodeBinary,
  decodeText,
  ProtocolError,
  type PageText,
  type ServerBinary,
  type ServerText,
} from "./protocol";
import { Signal } from "./signal";

export type Link =
  { state: "connecting" } | { state: "open" } | { state: "lost"; reason: string; retryAt: number };

export interface Receiver {
  text: (message: ServerText) => void;
  binary: (message: ServerBinary) => void;
  pointsOf: (generation: number) => number | undefined;
}

const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 4000;

/** Milliseconds to wait before attempt `attempt` (from 0): doubling, up to four seconds. */
export function waitBefore(attempt: number): number {
  return Math.min(FIRST_WAIT_MS * 2 ** attempt, LONGEST_WAIT_MS);
}

/** The socket lies beside the page and takes the page's query along, which may hold a token. */
export function liveAddress(page: string): string {
  const address = new URL("live", page);
  address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
  address.search = new URL(page).search;
  return address.href;
}

export class Connection {
  readonly link = new Signal<Link>({ state: "connecting" });
  private socket: WebSocket | null = null;
  private attempt = 0;
  private timer = 0;

  constructor(
    private readonly address: string,
    private readonly receiver: Receiver,
  ) {
    // Somebody who comes back to the page should not wait for the next attempt.
    addEventListener("online", () => this.retryNow());
  }

  open(): void {
    clearTimeout(this.timer);
    this.link.set({ state: "connecting" });
    const socket = new WebSocket(this.address);
    socket.binaryType = "arraybuffer";
    socket.onopen = () => this.link.set({ state: "open" });
    socket.onmessage = (event: MessageEvent<string | ArrayBuffer>) => this.receive(event.data);
    socket.onclose = (event) => this.lost(socket, event);
    this.socket = socket;
  }

  retryNow(): void {
    if (this.link.value.state === "lost") this.open();
  }

  /** Sends a message, or drops it while there is no connection: everything sent is about now. */
  send(message: PageText): boolean {
    if (this.socket?.readyState !== WebSocket.OPEN) return false;
    this.socket.send(JSON.stringify(message));
    return true;
  }

  private receive(data: string | ArrayBuffer): void {
    try {
      if (typeof data === "string") {
        const message = decodeText(data);
        // Only a server that speaks counts as found, or one that refuses us would be asked forever.
        if (message.type === "hello") this.attempt = 0;
        this.receiver.text(message);
      } else {
        const message = decodeBinary(data, this.receiver.pointsOf);
        if (message) this.receiver.binary(message);
      }
    } catch (error) {
      if (!(error instanceof ProtocolError || error instanceof SyntaxError)) throw error;
      this.socket?.close(4000, "not understood");
      console.warn("taut: a message was not understood:", error.message);
    }
  }

  private lost(socket: WebSocket, event: CloseEvent): void {
    if (socket !== this.socket) return;
    this.socket = null;
    const wait = waitBefore(this.attempt);
    this.attempt += 1;
    this.link.set({ state: "lost", reason: event.reason, retryAt: Date.now() + wait });
    this.timer = window.setTimeout(() => this.open(), wait);
  }
}
