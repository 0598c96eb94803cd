// The bar at the top: time, and what concerns the whole picture.

import { SPEEDS, type Commands } from "../commands";
import type { State } from "../state";
import { toggleTheme } from "../theme";
import { fill, iconButton, make, select, setIcon, setValue } from "./dom";
import { ICONS } from "./icons";

export interface BarActions {
  fit: () => void;
  help: () => void;
}

export function bar(state: State, commands: Commands, actions: BarActions): HTMLElement {
  const title = make("h1", {}, "taut");
  const name = make("span", { class: "scene-name" });
  state.scene.watch((scene) => {
    name.textContent = scene?.name ?? "";
    document.title = scene ? `${scene.name} · taut` : "taut";
  });
  return make(
    "header",
    { class: "bar" },
    make("div", { class: "brand" }, title, name),
    transport(state, commands),
    tools(state, actions),
  );
}

function transport(state: State, commands: Commands): HTMLElement {
  const play = iconButton("Pause (space)", ICONS.pause, () => commands.togglePause());
  play.id = "play";
  state.stats.watch((stats) => {
    const running = stats?.running ?? false;
    if (play.dataset.running === String(running)) return;
    play.dataset.running = String(running);
    setIcon(play, running ? "Pause (space)" : "Resume (space)", ICONS[running ? "pause" : "play"]);
  });
  const step = iconButton("One step (S)", ICONS.step, () => commands.step());
  step.id = "step";
  const reset = iconButton("Start over (R)", ICONS.reset, () => commands.reset());
  reset.id = "reset";
  return make(
    "div",
    { class: "group", role: "group", "aria-label": "Time" },
    play,
    step,
    reset,
    speeds(state, commands),
  );
}

function speeds(state: State, commands: Commands): HTMLElement {
  const speed = select("speed", (value) => commands.speed(Number(value)));
  speed.setAttribute("aria-label", "Speed");
  speed.title = "Simulated seconds per second";
  state.stats.watch((stats) => {
    const now = stats?.speed ?? 1;
    const own = SPEEDS.some((choice) => choice.speed === now);
    const others = own ? [] : [{ speed: now, label: `${now}×` }];
    fill(
      speed,
      [...SPEEDS, ...others].map((choice) => [String(choice.speed), choice.label]),
    );
    setValue(speed, String(now));
  });
  return speed;
}

function tools(state: State, actions: BarActions): HTMLElement {
  const wire = iconButton("Wireframe (W)", ICONS.wire, () =>
    state.setLook({ wireframe: !state.look.value.wireframe }),
  );
  state.look.watch((look) => wire.setAttribute("aria-pressed", String(look.wireframe)));
  return make(
    "div",
    { class: "group", role: "group", "aria-label": "View" },
    iconButton("Fit to view (F)", ICONS.fit, actions.fit),
    wire,
    iconButton("Dark or light (T)", ICONS.theme, () => toggleTheme(state)),
    iconButton("Help (?)", ICONS.help, actions.help),
  );
}
