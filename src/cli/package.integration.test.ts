import { execFileSync, spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { TestDirectory } from "../store/testing/fixtures.ts";
import { ROOT } from "./testing/agents.ts";

interface Packed {
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string }[];
}

/** The files that `npm pack` would put into the package, from the existing build. */
function packed(): Packed {
  const { stdout } = spawnSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
    cwd: ROOT,
    encoding: "utf8",
  });
  // npm 12 answers with an object by package name, older ones with a list.
  const [first] = Object.values(JSON.parse(stdout) as Record<string, Packed>);
  if (first === undefined) throw new Error(`npm pack says nothing: ${stdout}`);
  return first;
}

/** By the source maps of another build, which know nothing of how the notices are made. */
function bundled(directory: string): string[] {
  execFileSync(process.execPath, ["scripts/build.ts", "--maps", "--out", directory], { cwd: ROOT });
  const maps = readdirSync(directory).filter((name) => name.endsWith(".map"));
  const sources = maps.flatMap((name) => {
    const map = JSON.parse(readFileSync(join(directory, name), "utf8")) as { readonly sources: readonly string[] };
    return map.sources;
  });
  const names = sources.flatMap((source) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(source)?.[1] ?? []);
  return [...new Set(names)].sort();
}

test("the package holds the program, its three doors and no source maps, in less than 14 MB", () => {
  const { files: all, unpackedSize } = packed();
  const files = all.map(({ path }) => path);
  expect(files).toEqual(
    expect.arrayContaining([
      "LICENSE",
      "CHANGELOG.md",
      "docs/models.md",
      "docs/commands.md",
      "examples/README.md",
      "examples/health.yaml",
      "examples/health/src/health.js",
      "bin/agents",
      "dist/agents.cjs",
      "dist/cli.cjs",
      "dist/help.json",
      "dist/index.js",
      "dist/primitives.js",
      "dist/definitions.js",
      "dist/THIRD-PARTY-NOTICES.txt",
    ]),
  );
  expect(files.filter((file) => file.endsWith(".map"))).toEqual([]);
  expect(readdirSync(join(ROOT, "dist")).filter((file) => file.endsWith(".map"))).toEqual([]);
  // Declarations are made when the package is packed; of a plain build, leave room for them.
  const declarations = files.some((file) => file.startsWith("dist/types/")) ? 0 : 1_000_000;
  // 0.4 MB of it are the pages and the examples, to which messages point.
  expect(unpackedSize + declarations).toBeLessThan(14_000_000);
  expect(files.filter((file) => /\.test\.|^(src|test|node_modules)\//.test(file))).toEqual([]);
});

test("every package of which something is bundled is named, with its license and the text of it", async () => {
  await using directory = await TestDirectory.make();
  const notices = readFileSync(join(ROOT, "dist/THIRD-PARTY-NOTICES.txt"), "utf8");
  const sections = new Map(
    notices
      .split(/^=+$/m)
      .slice(1)
      .map((section) => [section.trim().split(" ")[0], section]),
  );
  const names = bundled(directory.path);
  expect(names).toEqual(expect.arrayContaining(["ai", "commander", "undici", "yaml", "zod"]));
  for (const name of [...names, "gpt-tokenizer"]) {
    const [, license = "", text = ""] = /License: (\S+)\n\n([^]*)$/.exec(sections.get(name) ?? "") ?? [];
    expect([name, license]).toEqual([name, expect.stringMatching(/^(MIT|ISC|Apache-2\.0|BSD-\d-Clause)$/)]);
    expect(text, name).toMatch(/copyright|permission is hereby granted|apache license/i);
  }
  expect(readFileSync(join(ROOT, "LICENSE"), "utf8")).toContain("Apache License");
});
