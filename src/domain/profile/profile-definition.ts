import * as z from "zod";
import {
  findProfile,
  isBuiltIn,
  NETWORK_ACCESS,
  networkOf,
  THRESHOLDS,
  type NetworkAccess,
  type AutomationProfile,
  type ProfileBudget,
  type Threshold,
} from "./automation-profile.ts";
import { listIssues, ValidationError, type ValidationIssue } from "../errors/errors.ts";
import { toolMatches, type Guards } from "./guards.ts";
import { nameParts, parseOwnName, type QualifiedName } from "../names/qualified-name.ts";
import { jsonForm } from "../definition/json-form.ts";
import { collect, filledLine, suggested } from "../definition/checked-schema.ts";
import { shown } from "../text/text.ts";
import type { JsonObject } from "../values/json.ts";
import { isAddedToolName, TOOL_NAMES } from "../names/tool-names.ts";

/**
 * A custom profile. A setting missing in the file is taken from the profile it extends, or from `manual`; the complete
 * result is stored, so that later changes of the other profile do not matter.
 */
export interface ProfileDefinition {
  readonly profile: AutomationProfile & { readonly name: QualifiedName };
  readonly extends: string | undefined;
}

/** The names the original system has for the thresholds; its own documents say what each really decides. */
const ALIASES: Readonly<Record<string, Threshold>> = {
  create_tool: "autoExecute",
  select_tool: "autoApply",
  edit_code: "autoDecisionsStrategize",
  create_file: "autoValidationFix",
  delete_content: "autoStrategyRevision",
};

const NO_EFFECT = "is not implemented: it would have no effect; remove the line";

/** Keys of files made for the original system, or for earlier versions, whose meaning does not exist here. */
const REFUSED: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    [
      ["auto_strategize", "decompose_task"],
      ["auto_decisions_execute", "execute_command"],
      ["auto_reversion_from_apply", "access_network"],
      ["auto_child_plans", "install_dependency"],
      ["auto_retry_transient", "modify_config"],
      ["auto_checkpoint_restore", "approve_plan"],
    ]
      .flat()
      .map((key) => [key, NO_EFFECT]),
  ),
  allowed_skill_categories: "is not implemented: skills have no categories; remove the line",
  max_tokens: "is not implemented: only money is limited; use max_cost_usd",
};

/** Where a key of the file goes to, and what it takes. */
interface Key {
  readonly to: string;
  readonly takes: z.ZodType;
}
type Keys = Readonly<Record<string, Key>>;

const threshold = z
  .number()
  .refine((value) => value >= 0 && value <= 1, "must be from 0 (always by itself) to 1 (always asks)");
const limit = z.int().min(0, "must not be negative").max(1_000_000);
const cost = z.number().positive("must be more than 0").max(1_000_000);
const pattern = z.string().check((context) => {
  const problem = patternProblem(context.value);
  if (problem !== undefined) context.issues.push({ code: "custom", message: problem, input: context.value });
});

const THRESHOLD_KEYS: Keys = {
  ...Object.fromEntries(THRESHOLDS.map((name) => [snake(name), { to: name, takes: threshold }])),
  ...Object.fromEntries(Object.entries(ALIASES).map(([alias, name]) => [alias, { to: name, takes: threshold }])),
};
const SAFETY_KEYS: Keys = {
  require_sandbox: { to: "requireSandbox", takes: z.boolean() },
  require_checkpoints: { to: "requireCheckpoints", takes: z.boolean() },
  require_confinement: { to: "requireConfinement", takes: z.boolean() },
  require_human_approval: { to: "requireHumanApproval", takes: z.boolean() },
  allow_unsafe_tools: { to: "allowUnsafeTools", takes: z.boolean() },
  network: { to: "network", takes: z.enum(NETWORK_ACCESS, "must be off, registries or on") },
  max_retries_per_step: { to: "maxRetriesPerStep", takes: z.int().min(0).max(100) },
  max_cost_per_plan: { to: "budget.maxCostUsd", takes: cost },
};
const GUARD_KEYS: Keys = {
  tool_denylist: { to: "guards.toolDenylist", takes: z.array(pattern) },
  tool_allowlist: { to: "guards.toolAllowlist", takes: z.array(pattern) },
  max_tool_calls_per_step: { to: "guards.maxToolCallsPerStep", takes: limit },
  max_tool_calls: { to: "guards.maxToolCalls", takes: limit },
  max_calls_per_tool: { to: "guards.maxCallsPerTool", takes: z.record(pattern, limit) },
  require_approval_for_writes: { to: "guards.requireApprovalForWrites", takes: z.boolean() },
  require_approval_for_apply: { to: "guards.requireApprovalForApply", takes: z.boolean() },
  max_total_cost: { to: "budget.maxCostUsd", takes: cost },
};
const BUDGET_KEYS: Keys = {
  max_cost_usd: { to: "budget.maxCostUsd", takes: cost },
};
const OWN_KEYS: Keys = {
  name: { to: "name", takes: z.string() },
  description: { to: "description", takes: filledLine },
  extends: { to: "extends", takes: z.string() },
  schema_version: { to: "schema", takes: z.literal("1.0") },
};
const SECTIONS: Readonly<Record<string, Keys>> = {
  thresholds: THRESHOLD_KEYS,
  safety: SAFETY_KEYS,
  guards: GUARD_KEYS,
  budget: BUDGET_KEYS,
};
const TOP_KEYS: Keys = { ...OWN_KEYS, ...THRESHOLD_KEYS, ...SAFETY_KEYS };

/** The JSON Schema of a profile's file. */
export function profileForm(): JsonObject {
  const keysForm = (keys: Keys, more: JsonObject = {}): JsonObject => {
    const forms = Object.entries(keys).map(([word, { takes }]): [string, JsonObject] => [
      word,
      Object.hasOwn(ALIASES, word) ? { ...jsonForm(takes), deprecated: true } : jsonForm(takes),
    ]);
    return { type: "object", properties: { ...Object.fromEntries(forms), ...more }, additionalProperties: false };
  };
  const sections = Object.fromEntries(Object.entries(SECTIONS).map(([word, keys]) => [word, keysForm(keys)]));
  return { ...keysForm(TOP_KEYS, sections), required: ["name", "description"] };
}

/**
 * Parses and checks a profile completely; every problem is in the one error. `own` are those that can be extended
 * besides the built-in ones.
 */
export function parseProfile(input: unknown, own: readonly AutomationProfile[]): ProfileDefinition {
  const issues: ValidationIssue[] = [];
  const found = readKeys(input, issues);
  const { name: givenName, description, extends: base } = found.own as Partial<Record<string, string>>;
  for (const key of ["name", "description"]) {
    if (!found.given.has(key)) issues.push({ path: key, message: "is required" });
  }
  const name = givenName === undefined ? undefined : collect(() => profileName(givenName), issues);
  const extended = collect(() => findProfile(base ?? "manual", "extends", own), issues);
  if (issues.length > 0 || name === undefined || description === undefined || extended === undefined) refuse(issues);
  const profile = {
    ...extended,
    ...found.safety,
    network: networkIn(found.safety, extended),
    name,
    description,
    thresholds: { ...extended.thresholds, ...found.thresholds },
    guards: { ...extended.guards, ...found.guards },
    budget: { ...extended.budget, ...found.budget },
  };
  return { profile, extends: base === undefined ? undefined : extended.name };
}

/** In a file without `network`, the older switch decides, as it did when there was no other. */
function networkIn(given: Partial<AutomationProfile>, extended: AutomationProfile): NetworkAccess {
  const { network, allowUnsafeTools } = given;
  return network ?? (allowUnsafeTools === undefined ? extended.network : networkOf(allowUnsafeTools));
}

interface Found {
  readonly own: Readonly<Record<string, unknown>>;
  readonly safety: Partial<AutomationProfile>;
  readonly thresholds: Partial<Record<Threshold, number>>;
  readonly guards: Partial<Guards>;
  readonly budget: Partial<ProfileBudget>;
  /** Where each thing was said. */
  readonly given: ReadonlyMap<string, string>;
}

function readKeys(input: unknown, issues: ValidationIssue[]): Found {
  const given = new Map<string, string>();
  const values = new Map<string, unknown>();
  const read = (record: object, keys: Keys, parent: string): void => {
    for (const [word, value] of Object.entries(record)) {
      const path = parent === "" ? word : `${parent}.${word}`;
      const section = parent === "" && Object.hasOwn(SECTIONS, word) ? SECTIONS[word] : undefined;
      if (section !== undefined) {
        if (isRecord(value)) read(value, section, word);
        else issues.push({ path, message: "must be a set of key: value lines" });
        continue;
      }
      const key = Object.hasOwn(keys, word) ? keys[word] : undefined;
      const refused = Object.hasOwn(REFUSED, word) ? REFUSED[word] : undefined;
      if (key === undefined && refused !== undefined) {
        issues.push({ path, message: refused });
        continue;
      }
      if (key === undefined) {
        const known = parent === "" ? [...Object.keys(keys), ...Object.keys(SECTIONS)] : Object.keys(keys);
        issues.push({ path, message: "unknown key", ...suggested(word, known) });
        continue;
      }
      const before = given.get(key.to);
      if (before !== undefined) issues.push({ path, message: `says the same as "${before}"; say it once` });
      given.set(key.to, path);
      values.set(key.to, accepted(key.takes, value, path, issues));
    }
  };
  if (isRecord(input)) read(input, TOP_KEYS, "");
  const part = (names: Iterable<string>, prefix = ""): Record<string, unknown> =>
    Object.fromEntries(
      [...names].flatMap((to) => {
        const value = values.get(to);
        return value === undefined ? [] : [[to.slice(prefix.length), value]];
      }),
    );
  const below = (prefix: string): string[] => [...values.keys()].filter((to) => to.startsWith(prefix));
  return {
    own: part(["name", "description", "extends"]),
    safety: part(Object.values(SAFETY_KEYS).flatMap(({ to }) => (to.includes(".") ? [] : [to]))),
    thresholds: part(THRESHOLDS),
    guards: part(below("guards."), "guards."),
    budget: part(below("budget."), "budget."),
    given,
  };
}

/** The value, or undefined and what is wrong with it. */
function accepted(takes: z.ZodType, value: unknown, path: string, issues: ValidationIssue[]): unknown {
  const parsed = takes.safeParse(value);
  if (parsed.success) return parsed.data;
  for (const issue of parsed.error.issues) {
    issues.push({ path: [path, ...issue.path.map(String)].join("."), message: issue.message });
  }
  return undefined;
}

function profileName(text: string): QualifiedName {
  const name = parseOwnName(text);
  const { name: last, namespace, server } = nameParts(name);
  if (server === undefined && namespace.toLowerCase() === "local" && isBuiltIn(last)) {
    const message = `"${text}" is the name of a built-in profile; give yours another one.`;
    throw new ValidationError(message, [{ path: "name", message }]);
  }
  return name;
}

/**
 * A pattern that fits no tool would hold nothing back, without any sign of it. One with a namespace is for tools that
 * are not built in, which may be added later.
 */
export function patternProblem(text: string): string | undefined {
  if (isAddedToolName(text.replaceAll("*", "x"))) return undefined;
  if (TOOL_NAMES.some((tool) => toolMatches(text, tool))) return undefined;
  const { suggestion } = suggested(text, TOOL_NAMES);
  return `there is no tool ${shown(text)}${suggestion === undefined ? "" : ` (did you mean "${suggestion}"?)`}`;
}

/** `auto_apply` for `autoApply`. */
export function snake(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function refuse(issues: readonly ValidationIssue[]): never {
  throw new ValidationError(`The automation profile is not valid: ${listIssues(issues)}.`, issues);
}
