// Dark or light: as the system has it, until somebody chooses.

import type { State, Theme } from "./state";

const KEY = "taut-theme";

export function followTheme(state: State): void {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const choose = () => state.theme.set(chosen() ?? (dark.matches ? "dark" : "light"));
  state.theme.subscribe(apply);
  dark.addEventListener("change", choose);
  choose();
  apply(state.theme.value);
}

export function toggleTheme(state: State): void {
  const theme: Theme = state.theme.value === "dark" ? "light" : "dark";
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // Private windows may refuse to store; the choice then lasts as long as the page.
  }
  state.theme.set(theme);
}

function chosen(): Theme | null {
  try {
    const theme = localStorage.getItem(KEY);
    return theme === "dark" || theme === "light" ? theme : null;
  } catch {
    return null;
  }
}

function apply(theme: Theme): void {
  document.documentElement.dataset.theme = theme;
}
