import { ACTOR_ROLES, type Action, type Actors } from "../../domain/action.ts";
import { argumentText } from "../../domain/arguments.ts";
import type { CommandContext } from "../command-context.ts";
import type { Input } from "../command-spec.ts";
import { readDefinition } from "../definition-file.ts";
import { count, instant, orDash } from "../format.ts";
import { info, type Outcome } from "../outcome.ts";
import { toned, type View } from "../view.ts";

export async function actionCreate(context: CommandContext, input: Input): Promise<Outcome> {
  const { text, file } = readDefinition(input, { question: "Which action?", command: "agents action create" });
  const { parseActionFile } = await import("../../plans/action-file.ts");
  const { findOwnProfiles } = await import("../../store/profiles.ts");
  const own = await (await context.store()).read((reader) => findOwnProfiles(reader));
  const definition = parseActionFile(text, file, own);
  const action = await (await context.plans()).createAction(definition);
  return {
    data: { action: actionData(action) },
    view: actionView(action),
    messages: info(`Action ${action.name} created.`),
    next: [`agents plan use ${action.name} <project>${requiredArguments(action)}`],
  };
}

export async function actionList(context: CommandContext, input: Input): Promise<Outcome> {
  const namespace = input.text("namespace");
  const wanted = input.text("state");
  const state = wanted === "available" || wanted === "archived" ? wanted : undefined;
  const actions = await (await context.plans()).listActions({ namespace, state });
  const available = actions.filter((action) => action.state === "available").length;
  return {
    data: {
      actions: actions.map((action) => ({
        name: action.name,
        state: action.state,
        strategy_actor: action.actors.strategy ?? null,
        execution_actor: action.actors.execution ?? null,
        reusable: action.reusable,
        plans: action.plans,
      })),
      filters: { state: state ?? null, namespace: namespace ?? null },
      summary: {
        total: actions.length,
        available,
        archived: actions.length - available,
        total_plans_created: actions.reduce((sum, action) => sum + action.plans, 0),
      },
    },
    view: [
      {
        kind: "table",
        title: "Actions",
        columns: [{ keep: "Name" }, "State", "Strategy", "Execution", "Plans"],
        rows: actions.map((action) => [
          action.name,
          toned(action.state, action.state === "available" ? "good" : "dim"),
          orDash(action.actors.strategy),
          orDash(action.actors.execution),
          String(action.plans),
        ]),
        empty: "No actions yet.",
      },
    ],
    messages: info(`${count(actions.length, "action")} listed.`),
    ...(actions.length === 0 ? { next: ["agents action create --config <file>"] } : {}),
  };
}

export async function actionShow(context: CommandContext, input: Input): Promise<Outcome> {
  const action = await (await context.plans()).getAction(input.argument(0));
  return { data: { action: actionData(action) }, view: actionView(action), messages: [] };
}

export async function actionArchive(context: CommandContext, input: Input): Promise<Outcome> {
  const action = await (await context.plans()).archiveAction(input.argument(0));
  return {
    data: { action: { name: action.name, state: action.state } },
    view: [],
    messages: info(`Action ${action.name} is archived; its plans go on.`),
  };
}

function requiredArguments(action: Action): string {
  const required = action.arguments.filter((argument) => argument.required && argument.default === undefined);
  return required.map(({ name }) => ` --arg ${name}=…`).join("");
}

export function actorData(actors: Actors): Record<string, string | null> {
  return Object.fromEntries(ACTOR_ROLES.map((role) => [role, actors[role] ?? null]));
}

function actionData(action: Action): Record<string, unknown> {
  return {
    name: action.name,
    state: action.state,
    description: action.description,
    long_description: action.longDescription ?? null,
    definition_of_done: action.definitionOfDone,
    actors: actorData(action.actors),
    arguments: action.arguments.map((argument) => ({
      name: argument.name,
      type: argument.type,
      required: argument.required,
      description: argument.description,
      default: argument.default ?? null,
      min: argument.min ?? null,
      max: argument.max ?? null,
      pattern: argument.pattern ?? null,
    })),
    invariants: action.invariants,
    automation_profile: action.automationProfile ?? null,
    reusable: action.reusable,
    read_only: action.readOnly,
    version: action.version,
    created_at: instant(action.createdAt),
    updated_at: instant(action.updatedAt),
  };
}

function actionView(action: Action): View {
  const actors = ACTOR_ROLES.flatMap((role) =>
    action.actors[role] === undefined ? [] : [`${role}: ${action.actors[role]}`],
  );
  return [
    {
      kind: "fields",
      title: action.name,
      rows: [
        ["description", action.description],
        ...(action.longDescription === undefined ? [] : [["more", action.longDescription] as const]),
        ["done when", action.definitionOfDone.trimEnd()],
        ["actors", actors.join("\n")],
        ["state", toned(action.state, action.state === "available" ? "good" : "dim")],
        ["profile", action.automationProfile ?? "(as configured)"],
        ["reusable", action.reusable ? "yes" : "no"],
        ["read-only", action.readOnly ? "yes" : "no"],
        ...action.invariants.map((text, index) => [index === 0 ? "invariants" : "", text] as const),
      ],
    },
    {
      kind: "table",
      title: "Arguments",
      columns: ["Name", "Type", "Required", "Default", "Description"],
      rows: action.arguments.map((argument) => [
        argument.name,
        argument.type,
        argument.required ? "yes" : "no",
        argument.default === undefined ? "-" : argumentText(argument.default),
        argument.description,
      ]),
      empty: "",
    },
  ];
}
