import {
  CONTEXT_VIEWS,
  parseCountLimit,
  parseSizeLimit,
  parseTokens,
  parseView,
  POLICY_SETTINGS,
  resolveView,
  type ContextPolicy,
  type ContextView,
  type PolicySetting,
  type ResolvedView,
  type ViewPolicy,
} from "../../domain/context-policy.ts";
import { UsageError } from "../../domain/errors.ts";
import type { ProjectPolicy } from "../../plans/context-policy-service.ts";
import type { CommandContext } from "../command-context.ts";
import type { Input } from "../command-spec.ts";
import { bytes } from "../format.ts";
import { info, type Outcome } from "../outcome.ts";
import { toned, type Cell } from "../view.ts";

/** What the models of a project may see: setting it, and showing where each setting comes from. */
export async function contextSet(context: CommandContext, input: Input): Promise<Outcome> {
  const view = parseView(input.text("view") ?? "default");
  const change = changeOf(input);
  const clear = input.flag("clear");
  if (Object.values(change).every((value) => value === undefined) && !clear) {
    throw new UsageError("Nothing to set: name at least one setting, or --clear.", {
      kept: "Nothing was changed.",
      next: ["agents project context set --help"],
    });
  }
  const { project: named } = await (await context.policies()).getPolicy(input.argument(0));
  const strategies = await context.strategyNames(named);
  const set = await (await context.policies()).setView(named, view, change, { clear, strategies });
  const { project } = set;
  return {
    data: policyData(set, [view]),
    view: [settingsTable(resolveView(set.policy, view))],
    messages: info(
      `${clear ? "Cleared and set" : "Set"} what the view ${view} of ${project} shows${inheritors(view, set.policy)}.`,
    ),
    next: [`agents project context inspect ${project} --view ${view}`],
  };
}

export async function contextShow(context: CommandContext, input: Input): Promise<Outcome> {
  const wanted = input.text("view");
  const view = wanted === undefined ? undefined : parseView(wanted);
  const found = await (await context.policies()).getPolicy(input.argument(0));
  const { project, policy } = found;
  return {
    data: policyData(found, view === undefined ? CONTEXT_VIEWS : [view]),
    view: [view === undefined ? allViewsTable(policy) : settingsTable(resolveView(policy, view))],
    messages: info(
      Object.keys(policy).length === 0
        ? `${project} sets nothing itself: everything is as built in.`
        : `A view takes what it does not set from the one before it: ${CONTEXT_VIEWS.join(", ")}.`,
    ),
    next: [`agents project context inspect ${project}`],
  };
}

function changeOf(input: Input): ViewPolicy {
  const list = (name: string): string[] | undefined => {
    const given = input.texts(name);
    return given.length === 0 ? undefined : given;
  };
  const limit = (name: string, flag: string, parse: typeof parseSizeLimit): number | null | undefined => {
    const text = input.text(name);
    return text === undefined ? undefined : parse(text, flag);
  };
  const budget = input.text("budget");
  return {
    include: list("include"),
    exclude: list("exclude"),
    maxFileSize: limit("maxFileSize", "--max-file-size", parseSizeLimit),
    maxTotalSize: limit("maxTotalSize", "--max-total-size", parseSizeLimit),
    maxFiles: limit("maxFiles", "--max-files", parseCountLimit),
    strategies: list("strategy"),
    budget: budget === undefined ? undefined : parseTokens(budget, "--budget"),
  };
}

/** Who else sees what the view sets. */
function inheritors(view: ContextView, policy: ContextPolicy): string {
  const later = CONTEXT_VIEWS.slice(CONTEXT_VIEWS.indexOf(view) + 1);
  const affected = later.filter((other) => Object.values(resolveView(policy, other).from).includes(view));
  return affected.length === 0 ? "" : `; inherited by ${affected.join(", ")}`;
}

const NAMES = {
  include: "include",
  exclude: "exclude",
  maxFileSize: "max_file_size",
  maxTotalSize: "max_total_size",
  maxFiles: "max_files",
  strategies: "strategies",
  budget: "budget",
} as const satisfies Record<PolicySetting, string>;

function policyData({ project, policy }: ProjectPolicy, views: readonly ContextView[]): Record<string, unknown> {
  return {
    project,
    views: Object.fromEntries(
      views.map((view) => {
        const resolved = resolveView(policy, view);
        const settings = POLICY_SETTINGS.map((setting) => [
          NAMES[setting],
          { value: resolved[setting] ?? null, from: resolved.from[setting] },
        ]);
        return [view, Object.fromEntries(settings)];
      }),
    ),
  };
}

function settingsTable(resolved: ResolvedView): Outcome["view"][number] {
  return {
    kind: "table",
    title: `View ${resolved.view}`,
    columns: [{ keep: "Setting" }, "Value", { keep: "From" }],
    rows: POLICY_SETTINGS.map((setting) => [
      NAMES[setting].replaceAll("_", " "),
      settingText(resolved, setting),
      origin(resolved, setting),
    ]),
    empty: "",
  };
}

/** The first view whole, of the others only what they set themselves. */
function allViewsTable(policy: ContextPolicy): Outcome["view"][number] {
  const rows = CONTEXT_VIEWS.flatMap((view) => {
    const resolved = resolveView(policy, view);
    const own = POLICY_SETTINGS.filter((setting) => view === "default" || resolved.from[setting] === view);
    return own.map((setting): Cell[] => [
      view,
      NAMES[setting].replaceAll("_", " "),
      settingText(resolved, setting),
      origin(resolved, setting),
    ]);
  });
  return {
    kind: "table",
    title: "Context policy",
    columns: [{ keep: "View" }, { keep: "Setting" }, "Value", { keep: "From" }],
    rows,
    empty: "",
  };
}

function origin(resolved: ResolvedView, setting: PolicySetting): Cell {
  const from = resolved.from[setting];
  return from === "built in" ? toned(from, "dim") : from;
}

function settingText(resolved: ResolvedView, setting: PolicySetting): string {
  switch (setting) {
    case "include":
      return resolved.include.join(", ") || "everything";
    case "exclude":
      return resolved.exclude.join(", ") || "nothing";
    case "maxFileSize":
    case "maxTotalSize": {
      const limit = resolved[setting];
      return limit === undefined ? "no limit" : bytes(limit);
    }
    case "maxFiles":
      return resolved.maxFiles === undefined ? "no limit" : String(resolved.maxFiles);
    case "strategies":
      return resolved.strategies?.join(", ") ?? "all that are enabled";
    case "budget":
      return resolved.budget === undefined ? "what the model's window leaves" : `${resolved.budget} tokens`;
  }
}
