/** Tools and skills: what a user, a project or a repository adds to the built-in tools. */
import type { Parameter, TableEntry } from "../base/operation.ts";

const HERE: Parameter = { name: "directory", about: "where the caller is", kind: "here" };
const NAMESPACE: Parameter = { name: "namespace", about: "only of this namespace", value: "name" };
const TOOL: Parameter = { name: "tool", about: "the tool's name", positional: true, required: true };

const SKILL: Parameter = { name: "skill", about: "the skill's name", positional: true, required: true };
const FOLDER: Parameter = {
  name: "folder",
  about: "the folder that has the file SKILL.md",
  kind: "path",
  positional: true,
};

export const EXTENSION_TABLE = {
  "tool.add": {
    summary: "Add a tool of your own from a YAML file",
    role: "operator",
    writes: true,
    asks: true,
    parameters: [
      {
        name: "definition",
        about: 'the tool in YAML ("-" reads standard input)',
        value: "file",
        kind: "document",
        word: "config",
        short: "c",
        required: true,
      },
      { name: "replace", about: "put it in the place of a tool of the same name", kind: "flag" },
    ],
    example: { definition: { file: "count-words.yaml" } },
    load: () => import("../operations/tool-add.ts"),
  },
  "tool.list": {
    summary: "List your own tools, and those that the repository here brings",
    role: "reader",
    writes: false,
    parameters: [HERE, NAMESPACE],
    example: {},
    load: () => import("../operations/tool-list.ts"),
  },
  "tool.show": {
    summary: "Show a tool: its parameters, and what it runs",
    role: "reader",
    writes: false,
    parameters: [HERE, TOOL],
    example: { tool: "count-words" },
    load: () => import("../operations/tool-show.ts"),
  },
  "tool.remove": {
    summary: "Remove a tool of your own; plans that have begun keep it",
    role: "operator",
    writes: true,
    asks: true,
    parameters: [TOOL],
    example: { tool: "count-words" },
    load: () => import("../operations/tool-remove.ts"),
  },
  "tool.accept": {
    summary: "Let plans use the tools that the repository here brings, as they are now",
    role: "operator",
    writes: true,
    asks: true,
    parameters: [HERE],
    example: {},
    load: () => import("../operations/tool-accept.ts"),
  },
  "tool.try": {
    summary: "Call a tool once in a throwaway copy of the repository here",
    role: "operator",
    writes: true,
    asks: true,
    parameters: [
      HERE,
      TOOL,
      { name: "arguments", about: "a parameter of the call", value: "name=value", kind: "pairs", word: "arg" },
    ],
    example: { tool: "count-words", arguments: { path: "README.md" } },
    load: () => import("../operations/tool-try.ts"),
  },
  "skill.add": {
    summary: "Add a skill: a folder with a file SKILL.md, which stays where it is, or a set of tools in YAML",
    role: "operator",
    writes: true,
    parameters: [
      FOLDER,
      {
        name: "definition",
        about: 'a set of tools in YAML ("-" reads standard input)',
        value: "file",
        kind: "document",
        word: "config",
        short: "c",
      },
      { name: "replace", about: "put it in the place of a skill of the same name", kind: "flag" },
    ],
    example: { folder: "skills/release-notes" },
    load: () => import("../operations/skill-add.ts"),
  },
  "skill.list": {
    summary: "List the skills of the repository here, your own and the added ones",
    role: "reader",
    writes: false,
    parameters: [HERE],
    example: {},
    load: () => import("../operations/skill-list.ts"),
  },
  "skill.show": {
    summary: "Show a skill: where it comes from, its files and its instructions",
    role: "reader",
    writes: false,
    parameters: [HERE, SKILL],
    example: { skill: "release-notes" },
    load: () => import("../operations/skill-show.ts"),
  },
  "skill.remove": {
    summary: "Take a skill that was added off the list; its folder stays",
    role: "operator",
    writes: true,
    parameters: [SKILL],
    example: { skill: "release-notes" },
    load: () => import("../operations/skill-remove.ts"),
  },
  "skill.check": {
    summary: "Check a skill: its folder, or its file; exit code 1 when it has problems",
    role: "reader",
    writes: false,
    local: true,
    parameters: [
      { ...FOLDER, about: "the folder that has the file SKILL.md, or a set of tools in YAML", required: true },
    ],
    example: { folder: ".agents/skills/release-notes" },
    load: () => import("../operations/skill-check.ts"),
  },
} as const satisfies Readonly<Record<string, TableEntry>>;
