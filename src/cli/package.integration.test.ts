import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "./testing/agents.ts";

/** What `npm pack` would put into the package, of the build that is there. */
function packed(): string[] {
  const { stdout } = spawnSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
    cwd: ROOT,
    encoding: "utf8",
  });
  const answer: unknown = JSON.parse(stdout);
  // npm 12 answers with an object by package name, older ones with a list.
  const [first] = Object.values(answer as Record<string, { readonly files: readonly { readonly path: string }[] }>);
  return (first?.files ?? []).map(({ path }) => path);
}

/** By the source maps, which know nothing of how the notices are made. */
function bundled(): string[] {
  const maps = readdirSync(join(ROOT, "dist")).filter((name) => name.endsWith(".map"));
  const sources = maps.flatMap((name) => {
    const map = JSON.parse(readFileSync(join(ROOT, "dist", name), "utf8")) as { readonly sources: readonly string[] };
    return map.sources;
  });
  const names = sources.flatMap((source) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(source)?.[1] ?? []);
  return [...new Set(names)].sort();
}

test("the package holds the program and no source maps", () => {
  const files = packed();
  expect(files).toEqual(
    expect.arrayContaining(["LICENSE", "CHANGELOG.md", "bin/agents", "dist/cli.cjs", "dist/THIRD-PARTY-NOTICES.txt"]),
  );
  expect(files.filter((file) => file.endsWith(".map"))).toEqual([]);
  expect(files.filter((file) => /\.test\.|^(src|test|node_modules)\//.test(file))).toEqual([]);
});

test("every package of which something is bundled is named, with its license and the text of it", () => {
  const notices = readFileSync(join(ROOT, "dist/THIRD-PARTY-NOTICES.txt"), "utf8");
  const sections = new Map(
    notices
      .split(/^=+$/m)
      .slice(1)
      .map((section) => [section.trim().split(" ")[0], section]),
  );
  const names = bundled();
  expect(names).toEqual(expect.arrayContaining(["ai", "commander", "undici", "yaml", "zod"]));
  for (const name of [...names, "gpt-tokenizer"]) {
    const [, license = "", text = ""] = /License: (\S+)\n\n([^]*)$/.exec(sections.get(name) ?? "") ?? [];
    expect([name, license]).toEqual([name, expect.stringMatching(/^(MIT|ISC|Apache-2\.0|BSD-\d-Clause)$/)]);
    expect(text, name).toMatch(/copyright|permission is hereby granted|apache license/i);
  }
  expect(readFileSync(join(ROOT, "LICENSE"), "utf8")).toContain("Apache License");
});
