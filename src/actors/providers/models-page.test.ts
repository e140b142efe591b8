import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { PROVIDER_FIELDS } from "../../domain/settings/provider-settings.ts";
import { findSetting } from "../../domain/settings/settings.ts";
import { parseTranscript } from "../scripted/transcript.ts";

const PAGE = readFileSync(new URL("../../../docs/models.md", import.meta.url), "utf8");

function blocks(language: string): string[] {
  return [...PAGE.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, "gms"))].map(([, code = ""]) => code);
}

test("the transcripts of the page are valid", () => {
  expect(blocks("yaml").map((source) => parseTranscript(source, "models.md").turns.length)).toEqual([4]);
});

test("the settings the page tells people to type are taken, and every field is explained", () => {
  const typed = [...PAGE.matchAll(/^agents config set (\S+) "?([^"\n]+)"?$/gm)];
  expect(typed.length).toBeGreaterThan(3);
  for (const [, key = "", value = ""] of typed)
    expect([key, findSetting(key).problem(value)]).toEqual([key, undefined]);
  for (const field of PROVIDER_FIELDS) expect(PAGE).toContain(`\`provider.<name>.${field}\``);
});
