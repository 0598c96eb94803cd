// Everything about the computation that can change while it runs.

import type { Commands } from "../commands";
import type { SceneInfo, Settings, Vector } from "../protocol";
import type { State } from "../state";
import { fill, make, panel, row, select, setValue } from "./dom";

interface NumberControl {
  id: keyof Settings;
  key: string;
  label: string;
  min: number;
  max?: number;
  step: number | "any";
  hint: string;
}

const NUMBERS: readonly NumberControl[] = [
  {
    id: "colors",
    key: "partition.colors",
    label: "Colors q̂",
    min: 2,
    max: 4096,
    step: 1,
    hint: "Number of colors of the phantom partition and of the hybrid solver",
  },
  {
    id: "iterations",
    key: "iterations",
    label: "Iterations",
    min: 1,
    step: 1,
    hint: "Sweeps over all constraints in a substep",
  },
  {
    id: "substeps",
    key: "substeps",
    label: "Substeps",
    min: 1,
    step: 1,
    hint: "Parts of a step",
  },
  {
    id: "relaxation",
    key: "relaxation",
    label: "Relaxation",
    min: 0.05,
    max: 2,
    step: 0.05,
    hint: "Factor for what a sweep changes",
  },
];

type Update = (scene: SceneInfo) => void;

export function solverPanel(state: State, commands: Commands): HTMLElement {
  const controls = [
    choice("solver", "Solver", commands),
    choice("partition", "Partition", commands, "partition.method"),
    ...NUMBERS.map((control) => number(control, commands)),
    vector("gravity", "Gravity", "gravity", commands),
    vector("wind", "Wind", "wind.velocity", commands),
    ...machine(state, commands),
  ];
  const update = () => {
    const scene = state.scene.value;
    if (scene) for (const control of controls) control.update(scene);
  };
  state.scene.watch(update);
  // What was refused goes back to what is in force.
  state.notices.subscribe(update);
  return panel("solver", "Solver", ...controls.map((control) => control.element), overrides(state));
}

interface Control {
  element: HTMLElement;
  update: Update;
}

function choice(
  id: "solver" | "partition",
  label: string,
  commands: Commands,
  key: string = id,
): Control {
  const element = select(id, (value) => commands.set(key, value));
  const update: Update = (scene) => {
    fill(
      element,
      scene.choices[id].map((word) => [word, word]),
    );
    setValue(element, scene.settings[id]);
  };
  return { element: row(label, element, id), update };
}

function number(control: NumberControl, commands: Commands): Control {
  const { id, key, label, min, max, step, hint } = control;
  const input = make("input", {
    type: "number",
    inputmode: "decimal",
    min: String(min),
    max: max === undefined ? undefined : String(max),
    step: String(step),
    title: hint,
  });
  input.addEventListener("change", () => {
    if (input.checkValidity() && input.value !== "") commands.set(key, input.value);
    else input.reportValidity();
  });
  const update: Update = ({ settings }) => {
    const value = settings[id];
    setValue(input, typeof value === "number" ? String(Number(value.toPrecision(6))) : "");
    input.placeholder = value === null ? "auto" : "";
  };
  return { element: row(label, input, id), update };
}

const AXES = ["x", "y", "z"] as const;

function vector(id: "gravity" | "wind", label: string, key: string, commands: Commands): Control {
  const inputs = AXES.map((axis) =>
    make("input", {
      type: "number",
      step: "any",
      id: `${id}-${axis}`,
      "aria-label": `${label} along ${axis}`,
    }),
  );
  for (const input of inputs) {
    input.addEventListener("change", () => {
      const values = inputs.map((one) => Number(one.value || "0"));
      if (values.every(Number.isFinite)) commands.setVector(key, values as Vector);
    });
  }
  const update: Update = ({ settings }) => {
    inputs.forEach((input, i) =>
      setValue(input, String(Number((settings[id]?.[i] ?? 0).toPrecision(5)))),
    );
  };
  const group = make("div", { class: "vector", role: "group", "aria-label": label }, ...inputs);
  const unit = id === "gravity" ? "m/s²" : "m/s";
  const name = make("span", { class: "label" }, label, make("small", {}, ` ${unit}`));
  return { element: make("div", { class: "row" }, name, group), update };
}

/** Back-end and threads go together in one message. */
function machine(state: State, commands: Commands): Control[] {
  const backend = select("backend", () => send());
  const threads = make("input", {
    type: "number",
    min: "0",
    max: "256",
    step: "1",
    title: "0: chosen while it runs",
  });
  threads.addEventListener("change", () => {
    if (threads.checkValidity()) send();
    else threads.reportValidity();
  });
  const send = () => commands.backend(backend.value, Number(threads.value || "0"));
  const updateBackend: Update = (scene) => {
    fill(
      backend,
      scene.choices.backend.map((word) => [word, word]),
    );
    setValue(backend, scene.settings.backend);
  };
  const updateThreads: Update = (scene) => {
    const cores = state.hello.value?.cores;
    setValue(threads, String(scene.settings.threads));
    threads.title = `0: chosen while it runs${cores === undefined ? "" : `, of ${cores} cores`}`;
    threads.disabled = scene.settings.backend === "serial";
  };
  return [
    { element: row("Back-end", backend, "backend"), update: updateBackend },
    { element: row("Threads", threads, "threads"), update: updateThreads },
  ];
}

/** What differs from the file, as flags of the command line: to take along into a script. */
function overrides(state: State): HTMLElement {
  const code = make("code", {});
  const element = make("p", { class: "overrides" }, code);
  state.scene.watch((scene) => {
    const list = scene?.overrides ?? [];
    element.hidden = list.length === 0;
    code.textContent = list.map((entry) => `--set "${entry}"`).join(" ");
  });
  return element;
}
