// The help: what mouse, fingers and keys do.

import type { Shortcut } from "../shortcuts";
import { button, make } from "./dom";

const GESTURES: readonly [string, string][] = [
  ["Drag a body", "pull it"],
  ["P while dragging", "pin it there"],
  ["Click a pin", "let it go"],
  ["Drag beside it, or Shift", "turn the camera"],
  ["Wheel, two fingers", "nearer or farther"],
  ["Right button, two fingers", "move the camera"],
  ["Drop files", "load a scene (.toml) with its meshes, or an .obj"],
];

export function help(shortcuts: readonly Shortcut[]): HTMLDialogElement {
  const rows = [
    ...GESTURES.map(([gesture, does]) => entry([gesture], does)),
    ...shortcuts
      .filter(({ does }) => does !== "")
      .map(({ shown, does }) => entry(shown.split(" "), does)),
  ];
  const dialog = make(
    "dialog",
    { class: "help", "aria-labelledby": "help-title" },
    make("h2", { id: "help-title" }, "Mouse, fingers and keys"),
    make("dl", {}, ...rows),
  );
  dialog.append(button("Close", () => dialog.close()));
  // A click beside the box closes it; the box itself covers the dialog.
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  return dialog;
}

function entry(keys: string[], does: string): HTMLElement {
  const caps = keys.map((key) => make("kbd", {}, key));
  return make("div", {}, make("dt", {}, ...caps), make("dd", {}, does));
}
