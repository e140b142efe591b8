/** Accepted and rejected together are the whole diff, and what is accepted alone is what git makes of those hunks. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { ChangesetId } from "../domain/names/ids.ts";
import { parsePatch } from "../domain/text/git-patch.ts";
import { seededRandom } from "../testing/random.ts";
import { sized } from "../testing/size.ts";
import { git } from "../testing/git-repository.ts";
import { reviewFiles, type ReviewFile } from "./review-files.ts";
import { withUnits } from "./units-taken.ts";
import type { PlanChange } from "./plan-changes.ts";

const SEED = Number(process.env["SEED"] ?? Date.now() % 1_000_000);
const WORDS = ["a\n", "b\n", "same\n", "", "ü 文\n", "x\r\n", "-- sql\n", "+++ plus\n", "@@ -1 +1 @@\n"];

const contents = new Map<string, Buffer>();

function imageOf(text: string) {
  const bytes = Buffer.from(text);
  const hash = createHash("sha256").update(bytes).digest("hex");
  contents.set(hash, bytes);
  return { hash, mode: 0o100644 };
}

function diffOf(directory: string, before: string, after: string): { file: ReviewFile | undefined; patch: string } {
  for (const [side, text] of [
    ["a", before],
    ["b", after],
  ] as const) {
    mkdirSync(join(directory, side), { recursive: true });
    writeFileSync(join(directory, side, "f.txt"), text);
  }
  git(directory, "add", "a/f.txt", "b/f.txt");
  const [a, b] = ["a", "b"].map((side) => git(directory, "rev-parse", `:${side}/f.txt`).trim());
  const patch =
    a === b
      ? ""
      : git(directory, "diff", a ?? "", b ?? "").replaceAll(/^(diff --git|---|\+\+\+) .*$/gm, (line, word: string) =>
          word === "diff --git"
            ? "diff --git a/f.txt b/f.txt"
            : line.includes("/") || /[0-9a-f]{40}/.test(line)
              ? `${word} ${word === "---" ? "a" : "b"}/f.txt`
              : line,
        );
  const change: PlanChange = {
    changesetId: "c" as ChangesetId,
    sequence: 1,
    resource: "api",
    path: "f.txt",
    fromPath: undefined,
    operation: "modify",
    before: imageOf(before),
    after: imageOf(after),
    toolInvocation: undefined,
    decision: undefined,
    at: 0,
    step: "s",
  };
  return { file: reviewFiles([change], patch)[0], patch };
}

async function taken(file: ReviewFile, units: ReadonlySet<string>): Promise<string> {
  const contentOf = (hash: string): Promise<Uint8Array> => Promise.resolve(contents.get(hash) ?? Buffer.alloc(0));
  const image = (await withUnits(file, units, contentOf)).get("f.txt");
  if (image === undefined) return "";
  return Buffer.from("hash" in image ? (contents.get(image.hash) ?? "") : image.content).toString("utf8");
}

/** Only these hunks, by git itself. */
function byGit(directory: string, before: string, patch: string, hunks: ReadonlySet<number>): string {
  const [file] = parsePatch(patch);
  const kept = (file?.hunks ?? []).filter((_, index) => hunks.has(index + 1));
  if (kept.length === 0) return before;
  const text = [...(file?.header ?? []), ...kept.flatMap(({ header, lines }) => [header, ...lines]), ""].join("\n");
  writeFileSync(join(directory, "f.txt"), before);
  execFileSync("git", ["apply", "--recount", "--whitespace=nowarn", "--unidiff-zero", "-"], {
    cwd: directory,
    input: text,
  });
  return readFileSync(join(directory, "f.txt"), "utf8");
}

test(`accepted hunks alone are what git apply makes of them, and the rest is what is missing (seed ${SEED})`, async () => {
  const random = seededRandom(SEED);
  const pick = <T>(list: readonly T[]): T | undefined => list[Math.floor(random() * list.length)];
  const directory = mkdtempSync(join(tmpdir(), "cleveragents-units-"));
  git(directory, "init", "--quiet");
  try {
    for (let round = 0; round < sized({ quick: 10, normal: 40, full: 1_000 }); round += 1) {
      const lines = Array.from({ length: Math.floor(random() * 40) }, () => pick(WORDS) ?? "");
      const changed = lines.flatMap((line) =>
        random() < 0.15 ? [pick(WORDS) ?? "", ...(random() < 0.3 ? ["new\n"] : [])] : [line],
      );
      const [before, after] = [
        `first\n${lines.join("")}${random() < 0.5 ? "end" : ""}`,
        `first\n${changed.join("")}${random() < 0.5 ? "end" : ""}`,
      ];
      const { file, patch } = diffOf(directory, before, after);
      if (file === undefined) continue;
      const all = new Set(file.units.map(({ id }) => id));
      expect(all.size, "each unit has a name of its own").toBe(file.units.length);
      expect([await taken(file, all), await taken(file, new Set())]).toEqual([after, before]);
      const hunks = new Set(file.hunks.map((_, index) => index + 1).filter(() => random() < 0.5));
      const some = new Set(file.units.flatMap(({ id, hunk }) => (hunk !== undefined && hunks.has(hunk) ? [id] : [])));
      expect(await taken(file, some), patch).toBe(byGit(directory, before, patch, hunks));
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
