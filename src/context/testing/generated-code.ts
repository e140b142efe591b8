/**
 * A code base made up of a few words, the same every time: parts of a shop that use each other, tests for half of them,
 * helpers that every part uses, and methods that have the same name everywhere. Files belong together when one imports
 * the other.
 */
import { createHash } from "node:crypto";
import type { Source } from "./answer-sets.ts";

const NOUNS =
  "Order Invoice Basket Customer Voucher Shipment Parcel Refund Payment Ledger Stock Shelf Supplier Price Discount Review Wish Return Address Courier Tariff Receipt Session Visitor Catalog Season Bundle Warranty Claim Depot Route Driver Label Scanner Printer Cashier Counter Till Coupon Gift".split(
    " ",
  );
const VERBS = ["open", "close", "settle", "forward", "estimate", "register", "release", "compare"];
const THINGS = ["balance", "deadline", "weight", "owner", "history", "quota", "margin", "region"];

export function generatedCode(): readonly Source[] {
  const modules = NOUNS.map((noun, at) => {
    const used = [1, 2, 3]
      .map((salt) => NOUNS[pick(`${noun} ${salt}`, NOUNS.length)] ?? "")
      .filter((other) => other !== noun);
    return module(noun, Array.from(new Set(used)), at);
  });
  const tests = NOUNS.filter((_, at) => at % 2 === 0).map((noun) => ({
    path: `test/${noun.toLowerCase()}.test.ts`,
    text: `import { ${nameOf(noun)} } from "../src/${noun.toLowerCase()}.ts";

export function checks${noun}(): void {
  if (${nameOf(noun)}(1) !== 0) throw new Error("the ${noun.toLowerCase()} is not what it was");
}
`,
  }));
  return [...modules, ...tests, HELPERS].toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

const HELPERS: Source = {
  path: "src/helpers.ts",
  text: `/** Used everywhere. */
export function roundedAmount(value: number): number {
  return Math.round(value * 100) / 100;
}
`,
};

function module(noun: string, used: readonly string[], at: number): Source {
  const thing = THINGS[at % THINGS.length] ?? "";
  return {
    path: `src/${noun.toLowerCase()}.ts`,
    text: `import { roundedAmount } from "./helpers.ts";
${used.map((other) => `import { ${nameOf(other)} } from "./${other.toLowerCase()}.ts";`).join("\n")}

/** Keeps the ${thing} of one ${noun.toLowerCase()}. */
export class ${noun}Record {
  constructor(readonly ${thing}: number) {}

  get(): number {
    return roundedAmount(this.${thing});
  }

  close(): void {}
}

/** Works out the ${thing}; what comes before it is asked first. */
export function ${nameOf(noun)}(value: number): number {
  const record = new ${noun}Record(value);
${used.map((other) => `  if (value > ${pick(other, 100)}) ${nameOf(other)}(value - 1);`).join("\n")}
  record.close();
  return record.get() - value;
}
`,
  };
}

/** The function a module offers: "settleInvoice". */
function nameOf(noun: string): string {
  return `${VERBS[pick(noun, VERBS.length)] ?? ""}${noun}`;
}

function pick(text: string, count: number): number {
  return createHash("sha256").update(text).digest().readUInt32BE() % count;
}
