// Files dropped anywhere on the page are loaded.

import type { Commands } from "../commands";
import { make } from "./dom";

export function dropZone(commands: Commands): HTMLElement {
  const veil = make("div", { class: "veil", hidden: true }, make("p", {}, "Drop to load"));
  // Enter and leave come in pairs for every element that is crossed.
  let depth = 0;
  const show = (change: number) => {
    depth = Math.max(0, depth + change);
    veil.hidden = depth === 0;
  };
  const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes("Files") ?? false;
  addEventListener("dragenter", (event) => {
    if (hasFiles(event)) show(1);
  });
  addEventListener("dragleave", (event) => {
    if (hasFiles(event)) show(-1);
  });
  addEventListener("dragover", (event) => {
    if (hasFiles(event)) event.preventDefault();
  });
  addEventListener("drop", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    show(-depth);
    void commands.openFiles([...(event.dataTransfer?.files ?? [])]);
  });
  return veil;
}
