/**
 * The demo's world: a small shop whose code is in a git repository and whose manual is a plain directory, and the
 * answers of a scripted model to three requests.
 */

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

/** The lines by which the demo recognizes whose work is in the files. */
export const LINES = {
  round: { code: "  return Math.round(price * count);", manual: "Prices are rounded." },
  shout: { code: "  return name.toUpperCase();", manual: "Titles are shouted." },
  discount: { code: "  return price * count * 0.9;", manual: "Ten percent off everything." },
  person: { code: 'export const phone = "555-0199";', manual: "Call us before noon." },
} as const;

/** A request, and how the model goes about it: two steps that may run at the same time. */
export interface Request {
  readonly name: "round" | "shout" | "discount";
  readonly text: string;
  readonly about: string;
  readonly code: Edit;
  readonly manual: Edit | NewFile;
}

interface Edit {
  readonly old: string;
  readonly new: string;
}

interface NewFile {
  readonly path: string;
  readonly content: string;
}

export const REQUESTS: readonly Request[] = [
  {
    name: "round",
    text: "Round prices",
    about: "changes total() and the manual",
    code: { old: "price * count", new: "Math.round(price * count)" },
    manual: { old: "Prices are exact.", new: LINES.round.manual },
  },
  {
    name: "shout",
    text: "Shout titles",
    about: "changes title() and the manual",
    code: { old: "return name", new: "return name.toUpperCase()" },
    manual: { old: "Titles are names.", new: LINES.shout.manual },
  },
  {
    name: "discount",
    text: "Give a discount",
    about: "changes total() too, and adds a page to the manual",
    code: { old: "price * count", new: "price * count * 0.9" },
    manual: { path: "discount.md", content: `${LINES.discount.manual}\n` },
  },
];

/** A request that no budget of the demo allows. */
export const TOO_DEAR = "Rewrite everything";

/** A request whose command reaches out of its sandbox. */
export const REACHING_OUT = "Tidy up";

/**
 * The model's answers, as a transcript: for each request a strategy, and for each of its steps a tool call and a last
 * word. `directory`: where shop and manual are.
 */
export function transcript(directory: string): string {
  return `turns:\n${[...REQUESTS.flatMap(turnsFor), ...turnsReachingOut(directory)]
    .map((turn) => `  - ${JSON.stringify(turn)}\n`)
    .join("")}`;
}

function turnsFor({ text, code, manual }: Request): object[] {
  // Three plans have the same transcript, so that each step says which request it is for.
  const [inCode, inManual] = [`${text} in the code`, `${text} and say so in the manual`];
  const ofCode = { user: `step "code": ${inCode}` };
  const ofManual = { user: `step "manual": ${inManual}` };
  const writes = "path" in manual ? "write_file" : "edit_file";
  const steps = [
    { id: "code", description: inCode, confidence: 0.9, risk: 0.2, complexity: "low", resources: ["code"] },
    {
      id: "manual",
      description: inManual,
      confidence: 0.9,
      risk: 0.1,
      complexity: "low",
      resources: ["manual"],
    },
  ];
  return [
    {
      match: { user: `Decide how this is done: ${text}` },
      tool_calls: [{ tool: "record_strategy", parameters: { steps } }],
      usage: { input_tokens: 900, output_tokens: 120 },
    },
    {
      match: ofCode,
      tool_calls: [{ tool: "edit_file", parameters: { resource: "code", path: "shop.js", ...code } }],
      usage: { input_tokens: 1_100, output_tokens: 60 },
    },
    { match: { ...ofCode, tool: "edit_file" }, text: "The code does it.", ...LAST },
    {
      match: ofManual,
      tool_calls: [{ tool: writes, parameters: { resource: "manual", path: "manual.md", ...manual } }],
      usage: { input_tokens: 1_100, output_tokens: 50 },
    },
    { match: { ...ofManual, tool: writes }, text: "The manual says it.", ...LAST },
  ];
}

function turnsReachingOut(directory: string): object[] {
  const step = { id: "tidy", description: "Tidy up", confidence: 0.9, risk: 0.2, complexity: "low" };
  const outside = `echo gone > '${directory}/shop/shop.js'; echo left > '${directory}/outside.txt'`;
  const command = `echo tidied > tidy.txt; { ${outside}; } 2>/dev/null; true`;
  return [
    {
      match: { user: `Decide how this is done: ${REACHING_OUT}` },
      tool_calls: [{ tool: "record_strategy", parameters: { steps: [{ ...step, resources: ["code"] }] } }],
      usage: { input_tokens: 900, output_tokens: 60 },
    },
    {
      match: { user: 'step "tidy"' },
      tool_calls: [{ tool: "shell_execute", parameters: { resource: "code", command } }],
      usage: { input_tokens: 1_000, output_tokens: 60 },
    },
    { match: { user: 'step "tidy"', tool: "shell_execute" }, text: "It is tidy.", ...LAST },
  ];
}

const LAST = { usage: { input_tokens: 1_200, output_tokens: 10 } };
