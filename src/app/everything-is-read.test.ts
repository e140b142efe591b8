/**
 * A setting that nothing reads is accepted, stored, shown, and has no effect: its author believes that it works. So
 * each threshold, profile field, configuration key, role, key of a definition, and parameter of an operation must be
 * read by production code other than the code that declares, parses, stores or prints it.
 *
 * The sources are searched as text, without comments. A name that is also an ordinary word can be found by accident;
 * where that is likely, the search says how the reader spells it.
 */
import { globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { describe, expect, test } from "vitest";
import { parseAction } from "../domain/action/action.ts";
import { parseActor } from "../domain/actor/actor-parser.ts";
import { AGENT_NAMES } from "../domain/names/agent-names.ts";
import { AGENT_FIELDS } from "../domain/settings/agent-settings.ts";
import { ACTOR_ROLES } from "../domain/names/actor-roles.ts";
import { DECISION_TYPES } from "../domain/plan/decision.ts";
import { BUILT_IN, THRESHOLDS } from "../domain/profile/automation-profile.ts";
import { STAGE_NAMES } from "../domain/settings/context-settings.ts";
import { PROVIDER_FIELDS } from "../domain/settings/provider-settings.ts";
import { SETTINGS } from "../domain/settings/settings.ts";
import { POLICY_SETTINGS } from "../domain/context/context-policy.ts";
import { RESOURCE_TYPES } from "../domain/resource/resource.ts";
import { parseValidation } from "../domain/validation/validation.ts";
import type { TableEntry } from "./base/operation.ts";
import { OPERATIONS } from "./table/operation-table.ts";

const SOURCES: ReadonlyMap<string, string> = new Map(
  globSync("src/**/*.ts")
    .filter((file) => !file.endsWith(".test.ts") && !file.includes("/testing/") && file !== "src/index.ts")
    .map((file) => [file, withoutComments(readFileSync(file, "utf8"))]),
);
/** Surfaces print; they decide nothing. */
const PRINTING = /^src\/cli\/|^src\/app\/queries\/[\w-]+-facts\.ts$/;

function withoutComments(text: string): string {
  return text.replaceAll(/\/\*.*?\*\//gs, "").replaceAll(/^\s*\/\/.*$/gm, "");
}

/** The beginnings of the paths of files that declare, parse or store something, or a rule for them. */
type Declared = readonly string[] | ((file: string) => boolean);

/** The names that no source besides the declaring ones has, by the forms in which a reader spells them. */
function unread(names: readonly string[], declared: Declared, spellings: RegExp = /(\w+)/g): string[] {
  const declares =
    typeof declared === "function" ? declared : (file: string) => declared.some((path) => file.startsWith(path));
  const found = new Set<string | undefined>();
  for (const [file, text] of SOURCES) {
    if (PRINTING.test(file) || declares(file)) continue;
    for (const groups of text.matchAll(spellings)) for (const group of groups.slice(1)) found.add(group);
  }
  return names.filter((name) => !found.has(name));
}

/** In quotes, also at the end of a text that is put together: `provider.${name}.api-key`. */
const LITERAL = /["'`]([\w.-]+)["'`]|\$\{\w+\}\.([\w-]+)`/g;

/** All files but those of a room. */
function except(room: string): (file: string) => boolean {
  return (file) => !file.startsWith(room);
}

describe("automation profiles", () => {
  const declared = ["automation-profile", "profile-definition", "tighter-profile"].map(
    (name) => `src/domain/profile/${name}.ts`,
  );
  const [profile] = BUILT_IN;
  const { name: _, description: _text, thresholds: _numbers, guards = {}, budget = {}, ...safety } = profile ?? {};

  test("every threshold is compared with somewhere", () => {
    expect(THRESHOLDS.length).toBeGreaterThan(0);
    expect(unread(THRESHOLDS, declared)).toEqual([]);
  });

  test("every field of safety, guards and budget holds something back", () => {
    const fields = [safety, guards, budget].flatMap((part) => Object.keys(part));
    expect(fields.length).toBeGreaterThan(10);
    expect(unread(fields, [...declared, "src/app/queries/guards.ts"])).toEqual([]);
  });
});

describe("the configuration", () => {
  const declared = ["src/domain/settings/"];
  const lists = ["actor.default.", "context.stage.", ...AGENT_NAMES.map((agent) => `acp.${agent}.`)];

  test("every key is asked for", () => {
    const keys = SETTINGS.map(({ key }) => key).filter((key) => !lists.some((prefix) => key.startsWith(prefix)));
    // How progress is printed is for the command line to ask; `watching.test.ts` sees the effect.
    expect(SOURCES.get("src/cli/run-cli.ts")).toContain('setting("core.progress"');
    expect(unread(keys, declared, LITERAL)).toEqual(["core.progress"]);
  });

  test("every field of a provider is asked for", () => {
    expect(unread(PROVIDER_FIELDS, declared, LITERAL)).toEqual([]);
  });

  test("every field of an outside agent is asked for", () => {
    expect(unread(AGENT_FIELDS, declared, LITERAL)).toEqual([]);
  });

  test("every stage of context assembly that can be replaced is run by the assembly", () => {
    expect(unread(STAGE_NAMES, except("src/context/assembly/"), LITERAL)).toEqual([]);
  });

  test("every setting of a context policy limits what is seen", () => {
    const elsewhere = ["src/domain/context/", "src/app/", "src/store/", "src/catalog/context-policy-service.ts"];
    expect(unread(POLICY_SETTINGS, elsewhere)).toEqual([]);
  });
});

test("every role of an actor is filled when a plan is carried out", () => {
  expect(unread(ACTOR_ROLES, except("src/runs/"), /actors\.(\w+)|actorOf\(plan, "(\w+)"\)/g)).toEqual([]);
});

test("every type of decision is recorded by something", () => {
  const declared = ["src/domain/plan/decision.ts", "src/execution/tools/context-tools.ts"];
  expect(unread(DECISION_TYPES, declared, /: "(\w+)"|\? "(\w+)"/g)).toEqual([]);
});

describe("definitions", () => {
  /** Texts for people: being shown is what they are for. */
  const FOR_PEOPLE = new Set(["name", "description", "longDescription"]);

  function keysOf(definition: object): string[] {
    const keys = Object.entries(definition).flatMap(([key, value]) => [
      key,
      ...(Array.isArray(value) ? value : [value]).flatMap((one: unknown) =>
        typeof one === "object" && one !== null && key !== "params" && key !== "responseFormat" ? keysOf(one) : [],
      ),
    ]);
    return [...new Set(keys)].filter((key) => !FOR_PEOPLE.has(key) && !/^\d+$/.test(key));
  }

  test("every key of an action has an effect", () => {
    const action = parseAction({
      name: "a",
      description: "d",
      definitionOfDone: "d",
      executionActor: "worker",
      arguments: [{ name: "x", type: "string", default: "y", min: 1, max: 2, pattern: "y" }],
      invariants: ["i"],
      automationProfile: "ci",
    });
    const declared = ["src/domain/action/action.ts", "src/catalog/action-file.ts", "src/store/tables/actions.ts"];
    expect(unread(keysOf(action), declared)).toEqual([]);
  });

  test("every key of an actor has an effect", () => {
    const route = {
      nodes: [{ id: "ask", type: "llm", prompt: "p", system_prompt: "s", output_key: "k", actor_ref: "other" }],
      edges: [],
      entry: "ask",
      exits: ["ask"],
      state: {},
    };
    const options = { temperature: 0, max_output_tokens: 1, top_p: 0, base_url: "http://127.0.0.1:1/v1" };
    const base = { name: "a", description: "d", provider: "openai", model: "m", options };
    const memory = { max_messages: 1, max_tokens: 1 };
    const actors = [
      parseActor({ ...base, type: "llm", tools: ["read_file"], memory }),
      parseActor({ ...base, type: "graph", route }),
      parseActor({ name: "a", type: "tool", description: "d", steps: [{ tool: "git_status" }] }),
    ];
    const declared = ["actor", "actor-parser", "actor-route", "model-actor", "tool-actor", "actor-wants"].map(
      (name) => `src/domain/actor/${name}.ts`,
    );
    const stored = ["src/catalog/actor-", "src/store/tables/actors.ts", "src/actors/providers/built-in-actors.ts"];
    expect(unread([...new Set(actors.flatMap(keysOf))], [...declared, ...stored])).toEqual([]);
  });

  test("every key of a validation has an effect", () => {
    const command = parseValidation({ name: "v", description: "d", command: "true", mode: "informational" });
    const declared = ["src/domain/validation/validation.ts", "src/catalog/validation-"];
    expect(unread(keysOf(command), [...declared, "src/store/tables/validations.ts"])).toEqual([]);
  });
});

describe("operations", () => {
  const entries: readonly (readonly [string, TableEntry])[] = Object.entries(OPERATIONS);

  /** The operation's file, and the files of this floor that it hands its input to. */
  function codeOf(file: string, seen = new Set<string>()): string {
    const text = SOURCES.get(file);
    if (text === undefined || seen.has(file)) return "";
    seen.add(file);
    const imported = [...text.matchAll(/(?:from|import\() ?"(\.[^"]+)"/g)]
      .map(([, path = ""]) => normalize(join(dirname(file), path)))
      .filter((path) => path.startsWith("src/app/procedures/") || path === "src/app/queries/plan-meant.ts");
    return [text, ...imported.map((path) => codeOf(path, seen))].join("\n");
  }

  /** Without the part that declares the input, which ends where the output is declared. */
  function withoutInput(text: string): string {
    return text.replace(/^ {2}input: .*?^ {2}output: /ms, "");
  }

  test.each(entries.filter(([, { parameters = [] }]) => parameters.length > 0))(
    "%s reads every parameter",
    (name, { parameters = [] }) => {
      const file = `src/app/operations/${name.replaceAll(".", "-")}.ts`;
      const words = new Set(withoutInput(codeOf(file)).match(/\w+/g));
      // Handed on as they are, to be judged by the type.
      const handedOn = RESOURCE_TYPES.flatMap((type) => type.arguments.map((argument): string => argument.name));
      if (name === "resource.add") for (const argument of handedOn) words.add(argument);
      expect(parameters.map((parameter) => parameter.name).filter((one) => !words.has(one))).toEqual([]);
    },
  );
});
