// What each key does.

import type { Commands } from "./commands";
import type { Layout } from "./panels/layout";
import type { Session } from "./session";
import type { Shortcut } from "./shortcuts";
import type { State } from "./state";
import { toggleTheme } from "./theme";

interface Parts {
  state: State;
  commands: Commands;
  session: Session;
  columns: Layout;
  help: () => void;
}

type Row = readonly [keys: string[], shown: string, does: string, run: () => unknown];

/** Two keys that belong together are shown in one line, with the first of them. */
const WITH_ABOVE = "";

export function shortcutsOf({ state, commands, session, columns, help }: Parts): Shortcut[] {
  const look = () => state.look.value;
  const wireframe = () => state.setLook({ wireframe: !look().wireframe });
  const alone = () => state.setLook({ alone: !look().alone });
  const rows: readonly Row[] = [
    [[" "], "space", "pause or go on", () => commands.togglePause()],
    [["s"], "S", "one step", () => commands.step()],
    [["r"], "R", "start over", () => commands.reset()],
    [[","], ", .", "slower, faster", () => commands.changeSpeed(-1)],
    [["."], WITH_ABOVE, "", () => commands.changeSpeed(1)],
    [["p"], "P", "pin what is dragged", () => session.view?.grabbing.pin()],
    [["f"], "F", "fit to view", () => session.view?.fit()],
    [["w"], "W", "wireframe", wireframe],
    [["c"], "C", "next way to color", () => commands.cycleColors()],
    [["["], "[ ]", "one phase alone: the one before, the next", () => commands.changePhase(-1)],
    [["]"], WITH_ABOVE, "", () => commands.changePhase(1)],
    [["a"], "A", "one phase alone, or all", alone],
    [["h"], "H", "hide or show the panels", () => columns.toggle()],
    [["t"], "T", "dark or light", () => toggleTheme(state)],
    [["?"], "?", "this help", help],
    [["Escape"], "Esc", "close the drawer", () => columns.close()],
  ];
  return rows.map(([keys, shown, does, run]) => ({ keys, shown, does, run: () => void run() }));
}
