import { ACTOR_SETTINGS } from "./actor-settings.ts";
import { AGENT_SETTINGS } from "./agent-settings.ts";
import { findProfile } from "../profile/automation-profile.ts";
import { BUDGET_SETTINGS } from "./budget-settings.ts";
import { CONTEXT_SETTINGS } from "./context-settings.ts";
import { ConfigurationError, UsageError } from "../errors/errors.ts";
import { nextStep } from "../errors/next-step.ts";
import { nearProviderSetting, providerSetting } from "./provider-settings.ts";
import { MODEL_SETTINGS } from "./model-source-settings.ts";
import { parseQualifiedName } from "../names/qualified-name.ts";
import { maskSecrets } from "../secrets/redaction.ts";
import { SANDBOX_SETTINGS } from "./sandbox-settings.ts";
import { WEB_SETTINGS } from "./web-settings.ts";
import { MCP_SETTINGS } from "./mcp-settings.ts";
import { HIDDEN } from "../secrets/secret.ts";
import { nearest } from "../text/suggest.ts";
import { lineProblem } from "../text/text.ts";
import type { Environment } from "../values/environment.ts";

/** Every configuration key there is: what it is for, its default, and the environment variable that overrides it. */
export interface Setting {
  readonly key: string;
  readonly env: string;
  readonly default: string | undefined;
  readonly description: string;
  /** Whether a project may have its own value. */
  readonly perProject: boolean;
  /** Its value is never shown or recorded; "when wrong" is for what people mistake for the place of a secret. */
  readonly secret?: boolean | "when wrong";
  /** Undefined when the value is fine, else what is wrong with it. */
  readonly problem: (value: string) => string | undefined;
}

export const OUTPUT_FORMATS = ["rich", "color", "table", "plain", "json", "yaml"] as const;
export type OutputFormat = (typeof OUTPUT_FORMATS)[number];

export const SETTINGS: readonly Setting[] = [
  {
    key: "core.format",
    env: "CLEVERAGENTS_FORMAT",
    default: "rich",
    description: `How output looks: ${OUTPUT_FORMATS.join(", ")}`,
    perProject: false,
    problem: (value) =>
      OUTPUT_FORMATS.some((format) => format === value) ? undefined : `must be one of ${OUTPUT_FORMATS.join(", ")}`,
  },
  {
    key: "core.progress",
    env: "CLEVERAGENTS_PROGRESS",
    default: "live",
    description:
      "How progress looks on a terminal: live (drawn over) or plain (a line for each thing, for screen readers)",
    perProject: false,
    problem: (value) => (value === "live" || value === "plain" ? undefined : "must be live or plain"),
  },
  {
    key: "core.automation-profile",
    env: "CLEVERAGENTS_AUTOMATION_PROFILE",
    default: undefined,
    description: "The automation profile of plans whose action names none",
    perProject: true,
    problem: (value) => {
      try {
        // Own ones are named with their namespace here, so that a mistyped built-in one is told from them without the
        // database.
        if (value.includes("/")) parseQualifiedName(value);
        else findProfile(value);
        return undefined;
      } catch (error) {
        return error instanceof Error ? error.message : String(error);
      }
    },
  },
  {
    key: "core.store",
    env: "CLEVERAGENTS_STORE",
    default: undefined,
    description:
      "The address of a PostgreSQL database that several machines share, such as postgres://user@host:5432/name (otherwise a file in the data directory)",
    perProject: false,
    secret: true,
    problem: (value) =>
      /^postgres(ql)?:\/\/./.test(value) && URL.canParse(value)
        ? undefined
        : "must be an address like postgres://user@host:5432/name",
  },
  {
    key: "core.user",
    env: "CLEVERAGENTS_USER",
    default: undefined,
    description: "The name recorded in the audit log (otherwise the login name)",
    perProject: false,
    problem: (value) => (value.trim() === "" ? "must not be empty" : lineProblem(value, 200)),
  },
  ...ACTOR_SETTINGS,
  ...AGENT_SETTINGS,
  ...BUDGET_SETTINGS,
  ...MODEL_SETTINGS,
  ...CONTEXT_SETTINGS,
  ...SANDBOX_SETTINGS,
  ...WEB_SETTINGS,
  ...MCP_SETTINGS,
];

export function knownSetting(key: string): Setting | undefined {
  return SETTINGS.find((candidate) => candidate.key === key) ?? providerSetting(key);
}

export function findSetting(key: string): Setting {
  const setting = knownSetting(key);
  if (setting !== undefined) return setting;
  const keys = SETTINGS.map((candidate) => candidate.key);
  const suggestion = nearProviderSetting(key) ?? nearest(key, keys);
  throw new UsageError(`There is no configuration key "${key}".`, {
    detail: { key, ...(suggestion === undefined ? {} : { suggestion }) },
    next: [suggestion === undefined ? nextStep("config.list") : nextStep("config.get", { key: suggestion })],
  });
}

/** A setting's value as it may be shown and recorded. */
export function shownValue({ secret = false, problem }: Setting, value: string): string {
  const hidden = secret === "when wrong" ? problem(value) !== undefined : secret;
  return hidden ? HIDDEN : maskSecrets(value).text;
}

type SettingLevel = "flag" | "environment" | "project" | "global" | "default";

/** The value of a setting, and the level it comes from. */
export interface ResolvedSetting {
  readonly key: string;
  readonly value: string | undefined;
  readonly level: SettingLevel;
  /** Every level that has a value, the strongest first. */
  readonly chain: readonly { readonly level: SettingLevel; readonly value: string }[];
}

export interface SettingSources {
  readonly environment: Environment;
  readonly global: ReadonlyMap<string, string>;
  readonly project: ReadonlyMap<string, string>;
}

/** flag > environment > project > global > default. A value that does not fit is an error, never skipped. */
export function resolveSetting(setting: Setting, sources: SettingSources, flag?: string): ResolvedSetting {
  const levels: [SettingLevel, string | undefined][] = [
    ["flag", flag],
    ["environment", sources.environment[setting.env] || undefined],
    ["project", setting.perProject ? sources.project.get(setting.key) : undefined],
    ["global", sources.global.get(setting.key)],
    ["default", setting.default],
  ];
  const chain = levels.flatMap(([level, value]) => (value === undefined ? [] : [{ level, value }]));
  const winner = chain[0];
  if (winner === undefined) return { key: setting.key, value: undefined, level: "default", chain };
  const problem = setting.problem(winner.value);
  if (problem !== undefined) {
    const where = winner.level === "environment" ? `${setting.env} (environment)` : `${setting.key} (${winner.level})`;
    const value = shownValue(setting, winner.value);
    throw new ConfigurationError(`The value "${value}" of ${where} cannot be used: ${problem}`, {
      detail: { key: setting.key, level: winner.level, value },
      next: [nextStep("config.get", { key: setting.key, verbose: true })],
    });
  }
  return { key: setting.key, value: winner.value, level: winner.level, chain };
}
