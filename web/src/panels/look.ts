// How things are drawn: colors with their legend, one phase alone, wireframe.

import { COLORS_BY, type Commands } from "../commands";
import { hex } from "../color/oklab";
import { partitionColors } from "../color/palette";
import { rampGradient } from "../color/ramp";
import { short } from "../format";
import type { Field } from "../protocol";
import { GRADES, isQuality } from "../scene3d/quality";
import type { Level } from "../scene3d/segments";
import type { Signal } from "../signal";
import type { ColorBy, State } from "../state";
import { checkbox, fill, make, panel, row, select, setValue } from "./dom";

/** What a field's scale reaches to, and in which unit. */
export interface Scale {
  field: Field;
  highest: number;
}

const UNITS: Record<Field, (highest: number) => string> = {
  none: () => "",
  strain: (highest) => `${short(100 * highest)} % or more`,
  speed: (highest) => `${short(highest)} m/s or more`,
  contact: () => "touching",
};

export function lookPanel(state: State, commands: Commands, scale: Signal<Scale>): HTMLElement {
  const colors = select("color-by", (value) => commands.colorBy(value as ColorBy));
  fill(
    colors,
    COLORS_BY.map((word) => [word, word]),
  );
  state.look.watch((look) => setValue(colors, look.colorBy));
  return panel(
    "look",
    "Look",
    row("Color by", colors, "color-by"),
    legend(state, scale),
    partition(state),
    switches(state),
    quality(state),
  );
}

function quality(state: State): HTMLElement {
  const choice = select("quality", (value) => {
    if (isQuality(value)) state.quality.set(value);
  });
  choice.title = "auto: as fine as this machine draws 30 pictures a second, and full at rest";
  fill(
    choice,
    ["auto", ...GRADES].map((word) => [word, word]),
  );
  state.quality.watch((value) => setValue(choice, value));
  return row("Quality", choice, "quality");
}

function legend(state: State, scale: Signal<Scale>): HTMLElement {
  const strip = make("div", { class: "strip" });
  const low = make("span", {}, "0");
  const high = make("span", {});
  const element = make(
    "div",
    { class: "legend", role: "img", "aria-label": "Color scale" },
    strip,
    make("div", { class: "ends" }, low, high),
  );
  const update = () => {
    const { colorBy } = state.look.value;
    const isField = colorBy !== "material" && colorBy !== "partition";
    element.hidden = !isField;
    if (!isField) return;
    strip.style.background = rampGradient(colorBy);
    const known = scale.value.field === colorBy;
    low.textContent = colorBy === "contact" ? "free" : "0";
    high.textContent = known ? UNITS[colorBy](scale.value.highest) : "";
  };
  state.look.watch(update);
  scale.subscribe(update);
  return element;
}

const LEVELS: readonly Level[] = ["phase", "block", "batch"];

function partition(state: State): HTMLElement {
  const kind = select("kind", (value) => state.setLook({ kind: Number(value), phase: 0 }));
  const level = select("level", (value) => state.setLook({ level: value as Level }));
  fill(
    level,
    LEVELS.map((word) => [word, word]),
  );
  const surface = checkbox("Surface", "surface", (on) => state.setLook({ surface: on }));
  const element = make(
    "div",
    { class: "sub" },
    row("Kind", kind, "kind"),
    row("Level", level, "level"),
    phases(state),
    swatches(state),
    surface.element,
  );
  const update = () => {
    const look = state.look.value;
    element.hidden = look.colorBy !== "partition";
    const kinds = state.scene.value?.kinds ?? [];
    fill(
      kind,
      kinds.map(({ kind: name }, i) => [String(i), name]),
    );
    setValue(kind, String(look.kind));
    setValue(level, look.level);
    surface.input.checked = look.surface;
  };
  state.look.watch(update);
  state.scene.subscribe(update);
  return element;
}

function phases(state: State): HTMLElement {
  const alone = checkbox("One phase alone", "alone", (on) => state.setLook({ alone: on }));
  const hide = checkbox("Hide the rest", "hide-rest", (on) => state.setLook({ hideRest: on }));
  const slider = make("input", { type: "range", min: "0", step: "1", "aria-label": "Phase" });
  slider.id = "phase";
  slider.addEventListener("input", () =>
    state.setLook({ phase: Number(slider.value), alone: true }),
  );
  const value = make("output", { for: "phase" });
  const update = () => {
    const look = state.look.value;
    const count = state.scene.value?.kinds[look.kind]?.phases ?? 1;
    alone.input.checked = look.alone;
    hide.input.checked = look.hideRest;
    hide.input.disabled = !look.alone;
    slider.max = String(count - 1);
    slider.value = String(look.phase);
    value.textContent = look.alone ? `${look.phase + 1} of ${count}` : `all ${count}`;
  };
  state.look.watch(update);
  state.scene.subscribe(update);
  return make(
    "div",
    {},
    make("div", { class: "checks" }, alone.element, hide.element),
    make("div", { class: "slider" }, slider, value),
  );
}

/** Beyond this many phases swatches tell nothing. */
const MOST_SWATCHES = 64;

function swatches(state: State): HTMLElement {
  const element = make("div", { class: "swatches", role: "group", "aria-label": "Phases" });
  let shown = "";
  const update = () => {
    const look = state.look.value;
    const count = state.scene.value?.kinds[look.kind]?.phases ?? 0;
    element.hidden = look.level !== "phase" || count > MOST_SWATCHES;
    const key = JSON.stringify([count, look.alone ? look.phase : null]);
    if (key === shown) return;
    shown = key;
    element.replaceChildren(
      ...partitionColors(count).map((color, phase) => swatch(state, hex(color), phase)),
    );
  };
  state.look.watch(update);
  state.scene.subscribe(update);
  return element;
}

/** A click shows the phase alone, a second one all again. */
function swatch(state: State, color: string, phase: number): HTMLElement {
  const { alone, phase: now } = state.look.value;
  const only = alone && phase === now;
  const element = make("button", {
    type: "button",
    class: "swatch",
    "aria-label": `Phase ${phase + 1} alone`,
    "aria-pressed": String(only),
  });
  element.title = `Phase ${phase + 1}`;
  element.style.background = color;
  element.addEventListener("click", () => state.setLook({ alone: !only, phase }));
  return element;
}

function switches(state: State): HTMLElement {
  const wire = checkbox("Wireframe", "wireframe", (on) => state.setLook({ wireframe: on }));
  const shadows = checkbox("Shadows", "shadows", (on) => state.setLook({ shadows: on }));
  state.look.watch((look) => {
    wire.input.checked = look.wireframe;
    shadows.input.checked = look.shadows;
  });
  return make("div", { class: "checks" }, wire.element, shadows.element);
}
