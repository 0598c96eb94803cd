// The few lines that make elements, instead of a framework: the page has some thirty controls, all
// made once, and what changes in them is a value or a class.

export type Child = Node | string;
type Attributes = Record<string, string | boolean | undefined>;

/** An element with attributes and children; `true` sets an attribute without a value. */
export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children);
  return element;
}

export function button(
  label: string,
  run: () => void,
  attributes: Attributes = {},
): HTMLButtonElement {
  const element = make("button", { type: "button", ...attributes }, label);
  onPress(element, run);
  return element;
}

/** After a click with the mouse the space bar pauses again, rather than presses the same button. */
function onPress(element: HTMLButtonElement, run: () => void): void {
  element.addEventListener("click", (event) => {
    const byKeyboard = event.detail === 0;
    if (!byKeyboard) element.blur();
    run();
  });
}

/** A button with a picture; its name is read out and shown as a hint. */
export function iconButton(name: string, path: string, run: () => void): HTMLButtonElement {
  const element = make("button", { type: "button", class: "icon" });
  onPress(element, run);
  setIcon(element, name, path);
  return element;
}

export function setIcon(element: HTMLElement, name: string, path: string): void {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  const shape = document.createElementNS(space, "path");
  shape.setAttribute("d", path);
  svg.append(shape);
  element.replaceChildren(svg);
  element.setAttribute("aria-label", name);
  element.title = name;
}

/** A labelled row: the label belongs to the control for those who do not see it, too. */
export function row(label: string, control: HTMLElement, id: string): HTMLElement {
  control.id = id;
  return make("div", { class: "row" }, make("label", { for: id }, label), control);
}

export function checkbox(label: string, id: string, changed: (on: boolean) => void) {
  const input = make("input", { type: "checkbox", id });
  input.addEventListener("change", () => changed(input.checked));
  const element = make("label", { class: "check", for: id }, input, label);
  return { element, input };
}

export function select(id: string, changed: (value: string) => void): HTMLSelectElement {
  const element = make("select", { id });
  element.addEventListener("change", () => changed(element.value));
  return element;
}

/** Fills a list of choices, unless it is already so: replacing it would close it under the pointer. */
export function fill(element: HTMLSelectElement, options: readonly [string, string][]): void {
  const key = JSON.stringify(options);
  if (element.dataset.options === key) return;
  element.dataset.options = key;
  element.replaceChildren(...options.map(([value, text]) => make("option", { value }, text)));
}

/** Sets a control's value, unless somebody is typing in it. */
export function setValue(element: HTMLInputElement | HTMLSelectElement, value: string): void {
  if (element instanceof HTMLInputElement && element === document.activeElement) return;
  element.value = value;
}

export function panel(id: string, title: string, ...children: Child[]): HTMLElement {
  const heading = make("h2", { id: `${id}-title` }, title);
  return make(
    "section",
    { class: "panel", id: `panel-${id}`, "aria-labelledby": `${id}-title` },
    heading,
    ...children,
  );
}
