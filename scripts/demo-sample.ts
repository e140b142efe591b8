/** What the demo works on: a small shop whose code is in a git repository and whose manual is a plain directory, and three changes to it. */

export const SHOP_CODE = `export function total(price, count) {
  return price * count;
}

// Shown above every list.
export function title(name) {
  return name;
}

// Where people reach us.
export const phone = "555-0100";
`;

export const MANUAL = `# Manual

Prices are exact.

Titles are names.

Call us at any time.
`;

/** The lines by which the demo recognises whose work is in the files. */
export const LINES = {
  round: { code: "  return Math.round(price * count);", manual: "Prices are rounded." },
  shout: { code: "  return name.toUpperCase();", manual: "Titles are shouted." },
  discount: { code: "  return price * count * 0.9;", manual: "Ten percent off everything." },
  person: { code: 'export const phone = "555-0199";', manual: "Call us before noon." },
} as const;

/** A change is an action and the actor that carries it out, both of the same name. */
export interface Change {
  readonly name: "round" | "shout" | "discount";
  readonly description: string;
  readonly about: string;
  readonly steps: string;
}

export const CHANGES: readonly Change[] = [
  {
    name: "round",
    description: "Round prices",
    about: "changes total() and the manual",
    steps: edits("price * count", "Math.round(price * count)", "Prices are exact.", LINES.round.manual),
  },
  {
    name: "shout",
    description: "Shout titles",
    about: "changes title() and the manual",
    steps: edits("return name", "return name.toUpperCase()", "Titles are names.", LINES.shout.manual),
  },
  {
    name: "discount",
    description: "Give a discount",
    about: "changes total() too, and adds a file to the manual",
    steps: `  - id: code
    tool: edit_file
    params:
      resource: code
      path: shop.js
      old: price * count
      new: price * count * 0.9
  - id: manual
    tool: write_file
    params:
      resource: manual
      path: discount.md
      content: "${LINES.discount.manual}\\n"
`,
  },
];

function edits(oldCode: string, newCode: string, oldText: string, newText: string): string {
  return `  - id: code
    tool: edit_file
    params:
      resource: code
      path: shop.js
      old: ${oldCode}
      new: ${newCode}
  - id: manual
    tool: edit_file
    params:
      resource: manual
      path: manual.md
      old: ${oldText}
      new: ${newText}
`;
}

export function actorFile({ name, description, steps }: Change): string {
  return `name: ${name}\ntype: tool\ndescription: ${description}\nsteps:\n${steps}`;
}

export function actionFile({ name, description }: Change): string {
  return `name: ${name}
description: ${description}
definition_of_done: Code and manual say so
execution_actor: local/${name}
`;
}
