// The page: state, connection, picture and panels are made and tied together here.

import { Commands } from "./commands";
import { Connection, liveAddress } from "./connection";
import { expose } from "./inspect";
import { bar } from "./panels/bar";
import { chartsPanel } from "./panels/charts";
import { make } from "./panels/dom";
import { dropZone } from "./panels/drop";
import { help } from "./panels/help";
import { layout } from "./panels/layout";
import { lookPanel } from "./panels/look";
import { notices } from "./panels/notices";
import { scenesPanel } from "./panels/scenes";
import { solverPanel } from "./panels/solver";
import { status } from "./panels/status";
import { isQuality } from "./scene3d/quality";
import { View } from "./scene3d/view";
import { Session } from "./session";
import { shortcutsOf } from "./keymap";
import { listen } from "./shortcuts";
import { State } from "./state";
import { followTheme } from "./theme";
import "./style/page.css";

/** How long panels wait for the first picture at most. */
const PATIENCE_MS = 1000;

function start(root: HTMLElement): void {
  const state = new State();
  const session = new Session(state);
  const connection = new Connection(liveAddress(location.href), session);
  session.connection = connection;
  // What comes is heard when all of this is done; until then the server can work.
  connection.open();
  const commands = new Commands(state, connection);
  followTheme(state);
  const quality = new URL(location.href).searchParams.get("quality");
  if (isQuality(quality)) state.quality.set(quality);

  // The picture comes first: shaders are compiled while the rest is made, and panels wait for it.
  const canvas = make("canvas", { tabindex: "0", "aria-label": "The simulation", role: "img" });
  const picture = make("main", { class: "picture" }, canvas);
  session.view = openView(canvas, state, connection);

  const fit = () => session.view?.fit();
  const columns = layout(root);
  const shortcuts = shortcutsOf({
    state,
    commands,
    session,
    columns,
    help: () => toggle(dialog),
  });
  const dialog = help(shortcuts);
  const top = bar(state, commands, {
    fit: () => fit(),
    help: () => toggle(dialog),
  });
  picture.append(status(state, connection), busy(state), notices(state, connection));
  root.append(top, ...columns.columns, picture, columns.tabs, dropZone(commands), dialog);
  listen(shortcuts);
  expose(state, connection, session);
  afterFirstPicture(session.view, state, () =>
    columns.fill({
      scene: scenesPanel(state, commands),
      solver: solverPanel(state, commands),
      look: lookPanel(state, commands, session.scale),
      charts: chartsPanel(state),
    }),
  );
}

/** Calls `run` once: when there is a picture, or when it is clear that none comes soon. */
function afterFirstPicture(view: View | null, state: State, run: () => void): void {
  const go = () => {
    clearTimeout(timer);
    forget();
    run();
  };
  const forget = state.drawing.subscribe(go);
  const timer = setTimeout(go, view ? PATIENCE_MS : 0);
}

/** Without WebGL the controls and the charts still work. */
function openView(canvas: HTMLCanvasElement, state: State, connection: Connection): View | null {
  try {
    return new View(canvas, state, (message) => connection.send(message));
  } catch (error) {
    state.notify({
      topic: "graphics",
      title: "No picture: this browser offers no WebGL 2",
      text: `Controls and charts work all the same. Hardware acceleration may be off in the browser's settings.\n${String(error)}`,
    });
    return null;
  }
}

function busy(state: State): HTMLElement {
  const element = make("p", { class: "busy", role: "status" });
  state.busy.watch((text) => {
    element.hidden = text === null;
    element.textContent = text ?? "";
  });
  return element;
}

function toggle(dialog: HTMLDialogElement): void {
  if (dialog.open) dialog.close();
  else dialog.showModal();
}

const root = document.getElementById("page");
if (root) start(root);
