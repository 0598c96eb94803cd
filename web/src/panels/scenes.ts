// The list of scenes, and files from the user's own disk.

import type { Commands } from "../commands";
import { whole } from "../format";
import type { SceneInfo } from "../protocol";
import type { State } from "../state";
import { button, fill, make, panel, row, select, setValue } from "./dom";

export function scenesPanel(state: State, commands: Commands): HTMLElement {
  const scenes = select("scene", (name) => commands.openScene(name));
  const about = make("p", { class: "about" });
  const facts = make("dl", { class: "facts" });
  const update = () => {
    list(state, scenes);
    const scene = state.scene.value;
    about.textContent = scene?.title ?? "";
    facts.replaceChildren(...(scene ? factsOf(scene) : []));
  };
  state.hello.watch(update);
  state.scene.watch(update);
  return panel("scene", "Scene", row("Scene", scenes, "scene"), about, facts, chooser(commands));
}

/** A scene from a file is not among the built-in ones, and is listed first. */
function list(state: State, scenes: HTMLSelectElement): void {
  const name = state.scene.value?.name;
  const known = state.hello.value?.scenes ?? [];
  const options = known.map((scene): [string, string] => [scene.name, scene.name]);
  if (name !== undefined && !known.some((scene) => scene.name === name)) {
    options.unshift([name, name]);
  }
  fill(scenes, options);
  if (name !== undefined) setValue(scenes, name);
}

function factsOf(scene: SceneInfo): HTMLElement[] {
  const constraints = scene.kinds.reduce((sum, kind) => sum + kind.elements, 0);
  const facts: [string, string][] = [
    ["particles", whole(scene.particles)],
    ["constraints", whole(constraints)],
    ["bodies", whole(scene.bodies.length)],
  ];
  return facts.map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value)));
}

function chooser(commands: Commands): HTMLElement {
  const input = make("input", {
    type: "file",
    multiple: true,
    accept: ".toml,.obj,.msh,.node,.ele",
    class: "hidden-file",
    "aria-label": "Open a scene or mesh from a file",
    tabindex: "-1",
  });
  input.addEventListener("change", () => {
    void commands.openFiles([...(input.files ?? [])]);
    // The same file can be chosen again after it was edited.
    input.value = "";
  });
  const open = button("Open a file …", () => input.click());
  open.title = "A scene (.toml) with its meshes, or an .obj; or drop them on the page";
  return make("div", { class: "open" }, open, input);
}
