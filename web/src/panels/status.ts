// The line at the bottom of the picture: what is going on, in numbers.

import type { Connection } from "../connection";
import { milliseconds, short, whole } from "../format";
import type { State } from "../state";
import { make } from "./dom";

export function status(state: State, connection: Connection): HTMLElement {
  const dot = make("i", { class: "dot" });
  const link = make("span", { id: "link" });
  const numbers = make("span", { class: "numbers" });
  connection.link.watch(({ state: now }) => {
    dot.dataset.state = now;
    link.textContent = { open: "connected", connecting: "connecting …", lost: "no connection" }[
      now
    ];
  });
  const update = () => {
    numbers.replaceChildren(...numbersOf(state).map((text) => make("span", {}, text)));
  };
  // Ten times a second is enough to read; every picture would make the browser lay out the page anew.
  state.stats.watch(update);
  return make("div", { class: "status" }, dot, link, numbers);
}

function numbersOf(state: State): string[] {
  const stats = state.stats.value;
  if (!stats) return [];
  const { fps, quality } = state.drawing.value;
  const contacts = stats.contacts > 0 ? [`${whole(stats.contacts)} contacts`] : [];
  const dropped = stats.dropped_contacts > 0 ? [`${whole(stats.dropped_contacts)} dropped`] : [];
  return [
    `step ${whole(stats.step)}`,
    `${stats.time.toFixed(2)} s`,
    `${milliseconds(stats.ms_per_step)} a step on ${stats.threads} ${stats.threads === 1 ? "thread" : "threads"}`,
    ...(stats.running ? [`${stats.rate.toFixed(2)}× real time`] : ["paused"]),
    `${short(stats.projections_per_second)} projections/s`,
    ...contacts,
    ...dropped,
    `${fps.toFixed(0)} pictures/s`,
    `${quality} quality`,
    ...(stats.viewers > 1 ? [`${stats.viewers} viewers`] : []),
  ];
}
