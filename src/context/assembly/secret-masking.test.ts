import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { ContextFragment } from "../model/context-model.ts";
import { SecretMasking } from "./secret-masking.ts";
import { ContextLab } from "../testing/recall.ts";

const BODY = Array.from({ length: 30 }, () => "aB3dE5gH7jK9mN1pQ2sT4vW6xY8z".repeat(3).slice(0, 64));
const LINES = ["before", "-----BEGIN PRIVATE KEY-----", ...BODY, "-----END PRIVATE KEY-----", "after"];

function piece(startLine: number, endLine: number): ContextFragment {
  return {
    entity: `code:key.txt:${startLine}-${endLine}`,
    level: "full",
    relevance: 1,
    content: LINES.slice(startLine - 1, endLine).join("\n"),
    tokens: 0,
    provenance: { resource: "code", path: "key.txt", startLine, endLine, hash: "" },
    reason: "",
  };
}

test("a piece out of the middle of a key shows nothing of it, and the lines around it stay where they were", () => {
  const masking = new SecretMasking();
  const whole = (): string => LINES.join("\n");
  expect(masking.shown(piece(10, 20), whole).trim()).toBe("");
  expect(masking.shown(piece(1, 2), whole)).toBe("before\n[masked: private key]");
  expect(masking.shown(piece(32, 34), whole).trimStart()).toBe("after");
  expect(masking.placesAmong([piece(1, 2)])).toEqual(["code:key.txt"]);
});

test.each(["PRIVATE KEY", "RSA PRIVATE KEY", "PGP PRIVATE KEY BLOCK"])(
  "words in the middle of a %s lead to nothing of it",
  async (kind) => {
    const directory = mkdtempSync(join(tmpdir(), "masking-"));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    const root = join(directory, "code");
    mkdirSync(root);
    const body = BODY.toSpliced(28, 0, "Comment: zebra giraffe savanna");
    const armor = [`-----BEGIN ${kind}-----`, ...body, `-----END ${kind}-----`];
    const around = (name: string): string[] => Array.from({ length: 40 }, (_, line) => `${name} ${line}`);
    writeFileSync(join(root, "animals.txt"), [...around("before"), ...armor, ...around("after"), ""].join("\n"));
    await using lab = await ContextLab.of(root, join(directory, "data"));
    const { text, fragments } = await lab.ask({ query: "zebra giraffe savanna", focus: [] }, 4_000, {
      strategy: "simple-keyword",
    });
    expect(fragments.map(({ level }) => level)).toEqual(["full"]);
    expect(text).toContain("after 0");
    expect(text).not.toContain(BODY[0]);
  },
);

test("a text without a secret is shown as it is, and not counted", () => {
  const masking = new SecretMasking();
  const plain = { ...piece(1, 1), content: "export const answer = 42;" };
  expect(masking.shown(plain, () => plain.content)).toBe(plain.content);
  expect(masking.placesAmong([plain])).toEqual([]);
});

test("at any level of detail, from the largest budget to the smallest, no secret is shown", async () => {
  const directory = mkdtempSync(join(tmpdir(), "masking-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const root = join(directory, "code");
  mkdirSync(root);
  const key = (letter: string): string => `AKIA${letter.repeat(8)}${"Q7".repeat(4)}`;
  const parts = Array.from("ABCDEFGH", (letter) =>
    [
      `/** Opens bucket ${letter} with ${key(letter)}. */`,
      `export function openBucket${letter}(bucketKey = "${key(letter)}"): string {`,
      ...Array.from({ length: 12 }, (_, line) => `  console.log("bucket ${letter} ${line}", bucketKey);`),
      "  return bucketKey;\n}\n",
    ].join("\n"),
  );
  writeFileSync(join(root, "buckets.ts"), parts.join("\n"));
  await using lab = await ContextLab.of(root, join(directory, "data"));
  const levels = new Set<string>();
  for (let tokens = 3_000; tokens > 60; tokens = Math.floor(tokens * 0.8)) {
    const context = await lab.ask({ query: "", focus: ["buckets.ts"] }, tokens);
    expect(context.text).not.toContain("AKIA");
    for (const { level } of context.fragments) levels.add(level);
    if (context.fragments.length > 0) expect(context.masked).toEqual(["code:buckets.ts"]);
  }
  expect(levels.size).toBeGreaterThan(1);
});
