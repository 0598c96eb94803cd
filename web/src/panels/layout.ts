// Columns beside the picture on a desk, a drawer below it on a phone.

import { make } from "./dom";

export interface Panels {
  scene: HTMLElement;
  solver: HTMLElement;
  look: HTMLElement;
  charts: HTMLElement;
}

export interface Layout {
  columns: HTMLElement[];
  tabs: HTMLElement;
  toggle: () => void;
  close: () => boolean;
}

const TABS: readonly [keyof Panels, string][] = [
  ["scene", "Scene"],
  ["solver", "Solver"],
  ["look", "Look"],
  ["charts", "Charts"],
];

export function layout(root: HTMLElement, panels: Panels): Layout {
  const left = make("aside", { class: "column left", "aria-label": "Controls" });
  left.append(panels.scene, panels.solver, panels.look);
  const right = make("aside", { class: "column right", "aria-label": "Charts" }, panels.charts);
  let opened: keyof Panels | null = null;
  const show = (name: keyof Panels | null) => {
    opened = name;
    root.dataset.drawer = name ?? "none";
    for (const [key, tab] of tabs) tab.setAttribute("aria-expanded", String(key === name));
    for (const [key] of TABS) panels[key].classList.toggle("opened", key === name);
  };
  const tabs = TABS.map(([key, label]): [keyof Panels, HTMLButtonElement] => {
    const tab = make("button", { type: "button", "aria-controls": `panel-${key}` }, label);
    tab.addEventListener("click", () => show(opened === key ? null : key));
    return [key, tab];
  });
  show(null);
  return {
    columns: [left, right],
    tabs: make("nav", { class: "tabs", "aria-label": "Panels" }, ...tabs.map(([, tab]) => tab)),
    toggle: () => root.classList.toggle("bare"),
    close: () => {
      const was = opened !== null;
      show(null);
      return was;
    },
  };
}
