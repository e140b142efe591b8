/**
 * The tasks of the agents, as actions that every coding agent has a tool for, and the repository that they work on:
 * this checkout's sources around a small shop with a bug.
 */
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { git } from "../src/testing/git-repository.ts";

export type Action =
  | { readonly does: "read"; readonly path: string }
  | { readonly does: "search"; readonly pattern: string; readonly in: string }
  | { readonly does: "list"; readonly path: string }
  /** Of whole lines. */
  | { readonly does: "edit"; readonly path: string; readonly old: string; readonly new: string }
  /** `shows` is in the output of a run that came to its end. */
  | { readonly does: "run"; readonly command: string; readonly shows: string };

export interface Task {
  readonly name: string;
  readonly request: string;
  /** One for each answer of the model; the last answer is the summary. */
  readonly actions: readonly Action[];
  readonly summary: string;
  /** Whether the user's files are as they should be. */
  readonly isDone: (repository: string) => boolean;
}

const CART = `/** Prices are whole cents. */
import { rateFor } from "./rates.js";

export function subtotal(items) {
  return items.reduce((sum, { cents, count }) => sum + cents * count, 0);
}

/** A discount of so many percent, never below zero. */
export function discounted(cents, percent) {
  return Math.floor(cents - (cents * percent) / 10);
}

export function total(items, { percent = 0, country = "DE" } = {}) {
  const net = discounted(subtotal(items), percent);
  return net + Math.round(net * rateFor(country));
}
`;
const RATES = `const RATES = { DE: 0.19, FR: 0.2, CH: 0.081 };

export function rateFor(country) {
  return RATES[country] ?? 0;
}
`;
const TEST = `import assert from "node:assert/strict";
import { test } from "node:test";
import { discounted, subtotal, total } from "../shop/cart.js";

test("the subtotal counts every item", () => {
  assert.equal(subtotal([{ cents: 250, count: 2 }, { cents: 99, count: 1 }]), 599);
});

test("a discount is a share of the price", () => {
  assert.equal(discounted(1_000, 5), 950);
});

test("a discount is never more than the price", () => {
  assert.equal(discounted(1_000, 150), 0);
});

test("the total has the tax of the country", () => {
  assert.equal(total([{ cents: 1_000, count: 1 }], { percent: 10, country: "FR" }), 1_080);
});
`;
const DOCS = `# The cart

Prices are whole cents. A discount is given in percent.
`;
/** Prints so many numbered lines, half of them to stderr, and fails. */
const FAILING = `const count = Number(process.argv[2]);
for (let line = 1; line <= count; line += 1) {
  console[line % 2 === 0 ? "error" : "log"](\`line \${line} of \${count}: expected 200, got 500\`);
}
process.exitCode = 1;
`;
const SLOW = `setTimeout(() => console.log("all is well"), 5_000);\n`;
const FILES: Readonly<Record<string, string>> = {
  "package.json": `{ "name": "shop", "private": true, "type": "module", "scripts": { "test": "node --test spec/cart.test.js" } }\n`,
  "AGENTS.md": "# Rules\n\nPrices are whole cents. Every function of the shop has a test in `spec`.\n",
  "shop/cart.js": CART,
  "shop/rates.js": RATES,
  "spec/cart.test.js": TEST,
  "docs/cart.md": DOCS,
  "tools/failing.js": FAILING,
  "tools/slow.js": SLOW,
};

const TESTS: Action = { does: "run", command: "node --test spec/cart.test.js", shows: "tests " };
const READ_CART: Action = { does: "read", path: "shop/cart.js" };
const WRONG = "  return Math.floor(cents - (cents * percent) / 10);";
const HALF = "  return Math.floor(cents - (cents * percent) / 100);";
const RIGHT = "  return Math.max(0, Math.floor(cents - (cents * percent) / 100));";
const ABOUT_PRICES = "Prices are whole cents. A discount is given in percent.";
const NEW_TEST = `test("no discount changes nothing", () => {\n  assert.equal(discounted(999, 0), 999);\n});\n\n`;
const TAX_TEST = 'test("the total has the tax of the country", () => {';

/** Makes the repository of all tasks, with the sources of this checkout around the shop; all of them, or one room. */
export function makeShop(directory: string, size: "all" | "room"): void {
  const sources = join(import.meta.dirname, "..", "src");
  const rooms = size === "all" ? readdirSync(sources) : ["domain"];
  for (const room of rooms) cpSync(join(sources, room), join(directory, "src", room), { recursive: true });
  for (const [path, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), text);
  }
  git(directory, "init", "--quiet", "--initial-branch=main");
  git(directory, "config", "user.name", "Ann");
  git(directory, "config", "user.email", "ann@example.org");
  git(directory, "add", "--all");
  git(directory, "commit", "--quiet", "--message=Everything so far");
  git(directory, "tag", "begin");
}

/** As it was in the beginning. */
export function resetShop(directory: string): void {
  git(directory, "checkout", "--quiet", "--force", "main");
  git(directory, "reset", "--quiet", "--hard", "begin");
  git(directory, "clean", "--quiet", "-fdx");
}

/** A bug fix of twenty answers: looking, a first fix that is not enough, the second, a test and the documentation. */
export const BUG: Task = {
  name: "bug fix, 20 answers",
  request: "The discount of the cart is wrong: 5 percent of 10.00 takes off half of it. Fix it, with a test.",
  actions: [
    { does: "search", pattern: "discounted", in: "." },
    READ_CART,
    { does: "read", path: "spec/cart.test.js" },
    { does: "list", path: "shop" },
    { does: "read", path: "src/domain/errors/errors.ts" },
    { does: "read", path: "shop/rates.js" },
    TESTS,
    { does: "edit", path: "shop/cart.js", old: WRONG, new: HALF },
    TESTS,
    READ_CART,
    { does: "search", pattern: "never below|never more", in: "." },
    { does: "read", path: "src/domain/text/text.ts" },
    { does: "edit", path: "shop/cart.js", old: HALF, new: RIGHT },
    TESTS,
    { does: "read", path: "docs/cart.md" },
    {
      does: "edit",
      path: "docs/cart.md",
      old: ABOUT_PRICES,
      new: `${ABOUT_PRICES} It never makes a price negative.`,
    },
    { does: "edit", path: "spec/cart.test.js", old: TAX_TEST, new: `${NEW_TEST}${TAX_TEST}` },
    TESTS,
    { does: "run", command: "git diff --stat", shows: "changed" },
  ],
  summary: "The discount was divided by 10 instead of 100 and could exceed the price. Both are fixed, with a test.",
  isDone: (repository) =>
    readText(repository, "shop/cart.js").includes(RIGHT) &&
    readText(repository, "docs/cart.md").includes("negative") &&
    testsPass(repository, 5),
};

export const TWO_FILES: Task = {
  name: "two files",
  request: "Add Austria with a tax of 20 percent, and say in docs/cart.md which countries have a rate.",
  actions: [
    { does: "read", path: "shop/rates.js" },
    { does: "read", path: "docs/cart.md" },
    {
      does: "edit",
      path: "shop/rates.js",
      old: "const RATES = { DE: 0.19, FR: 0.2, CH: 0.081 };",
      new: "const RATES = { DE: 0.19, FR: 0.2, CH: 0.081, AT: 0.2 };",
    },
    {
      does: "edit",
      path: "docs/cart.md",
      old: ABOUT_PRICES,
      new: `${ABOUT_PRICES} AT, CH, DE and FR have a tax rate.`,
    },
    { does: "run", command: "git diff --stat", shows: "changed" },
  ],
  summary: "Austria has a rate of 20 percent now, and the documentation names the countries.",
  isDone: (repository) =>
    readText(repository, "shop/rates.js").includes("AT: 0.2") &&
    readText(repository, "docs/cart.md").includes("AT, CH, DE and FR"),
};

export const QUESTION: Task = {
  name: "question only",
  request: "Which countries have a tax rate, and where does the code say so?",
  actions: [
    { does: "search", pattern: "rateFor", in: "." },
    { does: "read", path: "shop/rates.js" },
  ],
  summary: "Germany, France and Switzerland: the table RATES in shop/rates.js.",
  isDone: (repository) => git(repository, "status", "--porcelain").trim() === "",
};

/** Killed during the command of the third answer: one file is changed by then, the other is not. */
export const KILLED: Task = {
  ...TWO_FILES,
  name: "killed",
  actions: TWO_FILES.actions.flatMap((action, index) => {
    if (index === 1) return [];
    if (index === 2) return [action, { does: "run", command: "node tools/slow.js", shows: "all is well" } as const];
    return [action];
  }),
};

export const SHORT_OUTPUT = 40;
export const LONG_OUTPUT = 3_000;
export const OBSERVATION: Task = {
  name: "observation",
  request: "Run tools/failing.js and tell me why it fails.",
  actions: [SHORT_OUTPUT, LONG_OUTPUT].map((lines) => ({
    does: "run",
    command: `node tools/failing.js ${lines}`,
    shows: `of ${lines}:`,
  })),
  summary: "It always answers 500.",
  isDone: QUESTION.isDone,
};

function readText(repository: string, path: string): string {
  return readFileSync(join(repository, path), "utf8");
}

function testsPass(repository: string, count: number): boolean {
  const { status, stdout } = spawnSync(process.execPath, ["--test", "--test-reporter=tap", "spec/cart.test.js"], {
    cwd: repository,
    encoding: "utf8",
  });
  return status === 0 && stdout.includes(`# pass ${count}`);
}
