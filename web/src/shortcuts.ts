// Keys, and the list of them that the help shows: one table, so that both agree.

export interface Shortcut {
  /** As `KeyboardEvent.key` has it, letters in lower case. */
  keys: readonly string[];
  shown: string;
  does: string;
  run: () => void;
}

/** Where keys mean something else: text, choices, and the space bar on a button. */
function taken(event: KeyboardEvent): boolean {
  const { target } = event;
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return target.type !== "checkbox" || event.key === " ";
  if (target instanceof HTMLSelectElement || target instanceof HTMLTextAreaElement) return true;
  return target instanceof HTMLButtonElement && (event.key === " " || event.key === "Enter");
}

export function listen(shortcuts: readonly Shortcut[]): void {
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    // An open dialog keeps its keys, above all Escape; only the help's own key reaches through.
    if (key !== "?" && document.querySelector("dialog[open]")) return;
    const found = shortcuts.find((shortcut) => shortcut.keys.includes(key));
    if (!found || (taken(event) && key !== "Escape")) return;
    event.preventDefault();
    found.run();
  });
}
