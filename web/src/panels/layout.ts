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
  /** Puts the panels into the columns. */
  fill: (panels: Panels) => void;
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

/** The columns, at first without panels: they have their sizes, so that the picture has its own. */
export function layout(root: HTMLElement): Layout {
  const left = make("aside", { class: "column left", "aria-label": "Controls" });
  const right = make("aside", { class: "column right", "aria-label": "Charts" });
  let panels: Panels | null = null;
  let opened: keyof Panels | null = null;
  const show = (name: keyof Panels | null) => {
    opened = name;
    root.dataset.drawer = name ?? "none";
    for (const [key, tab] of tabs) tab.setAttribute("aria-expanded", String(key === name));
    for (const [key] of TABS) panels?.[key].classList.toggle("opened", key === name);
  };
  const tabs = TABS.map(([key, label]): [keyof Panels, HTMLButtonElement] => {
    const tab = make("button", { type: "button", "aria-controls": `panel-${key}` }, label);
    tab.addEventListener("click", () => show(opened === key ? null : key));
    return [key, tab];
  });
  show(null);
  return {
    columns: [left, right],
    fill: (all) => {
      panels = all;
      left.append(all.scene, all.solver, all.look);
      right.append(all.charts);
      show(opened);
    },
    tabs: make("nav", { class: "tabs", "aria-label": "Panels" }, ...tabs.map(([, tab]) => tab)),
    toggle: () => root.classList.toggle("bare"),
    close: () => {
      const was = opened !== null;
      show(null);
      return was;
    },
  };
}
