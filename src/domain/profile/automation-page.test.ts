/**
 * The page about autonomy says what is true: its table is the built-in profiles, its files are valid, its words are
 * known.
 */
import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { expect, test } from "vitest";
import { BUILT_IN, THRESHOLDS } from "./automation-profile.ts";
import { parseProfile, snake } from "./profile-definition.ts";

const PAGE = readFileSync(new URL("../../../docs/autonomy.md", import.meta.url), "utf8");

test("the table has the numbers of all built-in profiles", () => {
  const rows = PAGE.split("\n").filter((line) => line.startsWith("| `auto_"));
  const expected = THRESHOLDS.map((name) => BUILT_IN.map(({ thresholds }) => String(thresholds[name])));
  expect(
    rows.map((row) =>
      row
        .split(" | ")
        .slice(2)
        .map((cell) => cell.replace(" |", "")),
    ),
  ).toEqual(expected);
  expect(rows.map((row) => /`(\w+)`/.exec(row)?.[1])).toEqual(THRESHOLDS.map(snake));
  expect(PAGE).toContain(`| ${BUILT_IN.map(({ name }) => name).join(" | ")} |`);
});

test("the names in the second column are taken for the first", () => {
  for (const [, name = "", alias = ""] of PAGE.matchAll(/^\| `(auto_\w+)` \| `(\w+)`/gm)) {
    const said = (key: string): unknown =>
      parseProfile({ name: "a", description: "d", [key]: 0.5 }, []).profile.thresholds;
    expect(said(alias)).toEqual(said(name));
    expect(said(alias)).not.toEqual(BUILT_IN[0]?.thresholds);
  }
});

test("the profiles of the page are valid", () => {
  const files = [...PAGE.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, text = ""]) => parse(text) as unknown);
  expect(files.map((file) => parseProfile(file, []).profile.guards.maxToolCalls)).toEqual([200]);
});
