// What went wrong, in full and in words: lost connections, refused files, explosions.

import type { Connection } from "../connection";
import type { Notice, State } from "../state";
import { button, make } from "./dom";

/** A hiccup of a connection is not worth a notice. */
const PATIENCE_MS = 400;

export function notices(state: State, connection: Connection): HTMLElement {
  const list = make("div", { class: "notices", role: "log", "aria-label": "Messages" });
  state.notices.watch((all) => list.replaceChildren(...all.map((notice) => card(state, notice))));
  watchConnection(state, connection);
  return list;
}

function card(state: State, notice: Notice): HTMLElement {
  const { action } = notice;
  const close = button("Close", () => state.dismiss(notice.topic), { class: "quiet" });
  const buttons = action ? [button(action.label, action.run), close] : [close];
  return make(
    "div",
    { class: "notice", role: "alert", "data-topic": notice.topic },
    make("strong", {}, notice.title),
    make("pre", {}, notice.text),
    make("div", { class: "buttons" }, ...buttons),
  );
}

function watchConnection(state: State, connection: Connection): void {
  let timer = 0;
  connection.link.watch((link) => {
    clearTimeout(timer);
    if (link.state === "open") state.dismiss("connection");
    if (link.state !== "lost") return;
    timer = window.setTimeout(() => tell(state, connection, link.reason), PATIENCE_MS);
  });
}

function tell(state: State, connection: Connection, reason: string): void {
  const why = reason === "" ? "" : `\nThe server said: ${reason}`;
  state.notify({
    topic: "connection",
    title: "No connection to taut",
    text: `Is "taut view" still running? The page goes on as soon as it is back.${why}`,
    action: {
      label: "Try now",
      run: () => connection.retryNow(),
    },
  });
}
