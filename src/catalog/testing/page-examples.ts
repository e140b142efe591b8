/** The examples of definitions on the pages and in the scenarios, with the parser of each kind. */
import { readdirSync, readFileSync } from "node:fs";
import { parse as parseYaml } from "yaml";
import { readYaml } from "../../domain/definition/yaml-file.ts";
import { checkConfig } from "../../domain/settings/config-form.ts";
import { serversInFile } from "../../domain/mcp/server-input.ts";
import { parseToolSkill } from "../../domain/tool/tool-skill.ts";
import { parseActionFile } from "../action-file.ts";
import { parseActorFile } from "../actor-file.ts";
import { parseProfileFile } from "../profile-file.ts";
import type { FileKind } from "../schemas/file-kinds.ts";
import { readToolFile } from "../tool-file.ts";
import { parseValidationFile } from "../validation-file.ts";

export const PARSERS: Readonly<Record<FileKind, (text: string) => unknown>> = {
  actor: (text) => parseActorFile(text, "example", {}),
  action: (text) => parseActionFile(text, "example"),
  "automation-profile": (text) => parseProfileFile(text, "example", []),
  validation: (text) => parseValidationFile(text, "example"),
  tool: (text) => readToolFile(text, "example", undefined),
  skill: (text) => readYaml(text, "example", "a skill", parseToolSkill),
  "mcp-servers": (text) => serversInFile(text, "example"),
  config: (text) => readYaml(text, "example", "a configuration", checkConfig),
};

export interface PageExample {
  /** "actors.md, line 12". */
  readonly place: string;
  readonly kind: FileKind;
  readonly text: string;
}

const DOCS = new URL("../../../docs/", import.meta.url);
const FEATURES = new URL("../../../features/", import.meta.url);

/** Those that the parsers take: a page may also show one that is refused. */
export function pageExamples(): PageExample[] {
  const pages = ["", "how-to/"].flatMap((folder) => {
    const directory = new URL(folder, DOCS);
    return readdirSync(directory).flatMap((name) =>
      name.endsWith(".md") ? blocks(`${folder}${name}`, new URL(name, directory), BLOCKS) : [],
    );
  });
  const scenarios = readdirSync(FEATURES).flatMap((name) =>
    name.endsWith(".feature") ? blocks(name, new URL(name, FEATURES), DOC_STRINGS) : [],
  );
  return [...pages, ...scenarios].filter(({ kind, text }) => isTaken(kind, text));
}

const BLOCKS = /^(?:```(?:yaml|json)|cat > \S+\.yaml <<'?EOF'?)\n(.*?)^(?:```|EOF)$/gms;
const DOC_STRINGS = /^ *Given the file "[^"]*\.yaml":\n *"""\n(.*?)^ *"""$/gms;

function blocks(page: string, file: URL, form: RegExp): PageExample[] {
  const text = readFileSync(file, "utf8").replaceAll("And the file", "Given the file");
  return [...text.matchAll(form)].flatMap((match) => {
    const lines = (match[1] ?? "").split("\n");
    const indent = /^ */.exec(lines[0] ?? "")?.[0].length ?? 0;
    const example = lines.map((line) => line.slice(indent)).join("\n");
    const kind = kindOf(example);
    const place = `${page}, line ${text.slice(0, match.index).split("\n").length}`;
    return kind === undefined ? [] : [{ place, kind, text: example }];
  });
}

function kindOf(text: string): FileKind | undefined {
  if (/"mcpServers"/.test(text)) return "mcp-servers";
  if (/^definition_of_done:/m.test(text)) return "action";
  if (/^(?:extends|auto_\w+|thresholds|guards|safety):/m.test(text)) return "automation-profile";
  if (/^(?:builtins|includes):/m.test(text)) return "skill";
  if (/^(?:type|actors|agents|routes):/m.test(text)) return "actor";
  if (/^(?:parameters|module):/m.test(text)) return "tool";
  if (/^name:[^]*^(?:command|tool|mode):/m.test(text)) return "validation";
  if (/^(?:core|provider|budget|context|sandbox)\.[\w.-]+:/m.test(text)) return "config";
  return undefined;
}

function isTaken(kind: FileKind, text: string): boolean {
  try {
    PARSERS[kind](text);
    return true;
  } catch {
    return false;
  }
}

/** A file of the kind that names something, where the pages have none. */
export function valueOf(text: string): Record<string, unknown> {
  return parseYaml(text) as Record<string, unknown>;
}
