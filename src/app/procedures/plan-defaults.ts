/** The defaults of a new plan where the caller names nothing: actors, profile, budget. */
import { ACTOR_ROLES, type ActorRole } from "../../domain/action/action.ts";
import { defaultActorKey } from "../../domain/settings/actor-settings.ts";
import { capOf, capProblem } from "../../domain/settings/budget-settings.ts";
import { ConfigurationError, UsageError } from "../../domain/errors/errors.ts";
import type { ActorDefinition } from "../../domain/actor/actor.ts";
import type { Microdollars } from "../../domain/money/money.ts";
import { allowedBudget } from "../../ledger/own-budget.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import { parseQualifiedName } from "../../domain/names/qualified-name.ts";
import type { App } from "../base/app.ts";
import { modelsOfActors } from "./announce-model.ts";

export async function defaultActors(app: App): Promise<Partial<Record<ActorRole, string | undefined>>> {
  const defaults: Partial<Record<ActorRole, string | undefined>> = {};
  for (const role of ACTOR_ROLES) defaults[role] = (await app.setting(defaultActorKey(role))).value;
  return defaults;
}

/**
 * The actor of a run: the one named, the configured default, or the first model of the only provider that is
 * configured. Of several providers none is chosen here: where the user's text is sent, and which provider is paid, is
 * the user's decision.
 */
export async function runActor(app: App, named: string | undefined): Promise<string> {
  const { value } = await app.setting(defaultActorKey("execution"));
  const wanted = named ?? value;
  // An unknown actor is an error, raised before anything is written.
  if (wanted !== undefined) return (await usableActor(app, wanted)).name;
  const { configuredProviders } = await import("../../actors/providers/providers.ts");
  const providers = configuredProviders((await app.config()).global, app.environment);
  const offered = providers.flatMap(({ name, models }) => models.slice(0, 1).map((model) => `${name}/${model}`));
  const [only, ...others] = offered;
  if (only !== undefined && others.length === 0) return only;
  const kept = "Nothing was written and nothing was sent.";
  const [keyed] = providers.filter(({ type }) => type !== "scripted");
  if (only === undefined && keyed !== undefined) {
    throw new ConfigurationError(`${keyed.name} is configured, but not which of its models to ask.`, {
      kept,
      next: [
        nextStep("models.list", { provider: keyed.name, ask: true }),
        nextStep("run", { request: "<request>", actor: `${keyed.name}/<model>` }),
      ],
    });
  }
  if (only === undefined) {
    throw new ConfigurationError("No model is configured.", {
      kept,
      next: [
        { text: "export ANTHROPIC_API_KEY=…   (or OPENAI_API_KEY, GEMINI_API_KEY, OPENROUTER_API_KEY)" },
        nextStep("config.set", { key: "provider.ollama.base-url", value: "http://127.0.0.1:11434/v1" }),
        { text: "agents config set provider.scripted.transcript <file>   (offline, see docs/models.md)" },
      ],
    });
  }
  throw new ConfigurationError(`Several models are configured (${offered.join(", ")}): choose one.`, {
    kept,
    next: [
      nextStep("actor.set-default", { role: "execution", actor: only }),
      nextStep("run", { request: "<request>", actor: only }),
    ],
  });
}

/** An agent that is not installed, or has no model, is an error before anything is written too. */
async function usableActor(app: App, name: string): Promise<ActorDefinition> {
  const actor = await app.actorNamed(name);
  if (actor.type !== "acp" || actor.program.agent === undefined) return actor;
  const { requireAgent } = await import("../../actors/outside/installed-agents.ts");
  requireAgent(actor, await app.agentSources());
  await app.agentModel(actor);
  return actor;
}

/** The first named project that has a value of its own decides; several that disagree are an error. */
export async function configuredProfile(
  app: App,
  projects: readonly string[],
): Promise<{ name: string; source: "project" | "global" } | undefined> {
  const found = new Set<string>();
  for (const project of projects) {
    const name = parseQualifiedName(project, "project");
    // A project's own value is stronger than the environment here, though not for other settings.
    const { chain } = await app.setting("core.automation-profile", { project: name });
    const own = chain.find(({ level }) => level === "project");
    if (own !== undefined) found.add(own.value);
  }
  if (found.size > 1) {
    throw new UsageError(`The projects want different automation profiles: ${[...found].join(", ")}.`, {
      kept: "Nothing was written.",
      next: [{ text: "name one with --automation-profile" }],
    });
  }
  const [own] = found;
  if (own !== undefined) return { name: own, source: "project" };
  const { value } = await app.setting("core.automation-profile");
  return value === undefined ? undefined : { name: value, source: "global" };
}

/** A plan's own budget: it may be tighter than what is configured for all plans, not looser. */
export async function givenBudget(app: App, text: string | undefined): Promise<Microdollars | undefined> {
  if (text === undefined) return undefined;
  const wanted = parsedBudget(text);
  const { perPlan } = await app.caps();
  return allowedBudget(wanted, { configured: perPlan });
}

function parsedBudget(text: string): Microdollars | undefined {
  const problem = capProblem(text);
  if (problem === undefined) return capOf(text);
  throw new UsageError(`A budget ${problem}, not "${text}".`, { kept: "Nothing was written." });
}

/** The budget of all candidates together. The cap that is configured for a plan still holds for each of them. */
export async function groupBudget(
  app: App,
  text: string | undefined,
  actors: readonly string[],
): Promise<Microdollars | undefined> {
  if (text === undefined) return runBudget(app, undefined, actors);
  return parsedBudget(text);
}

/**
 * The budget of a run. Where the user set no limit at all, the default holds; but it never refuses a model, so it is
 * left out when a price is not known, and when nothing costs anything.
 */
export async function runBudget(
  app: App,
  text: string | undefined,
  actors: readonly string[],
): Promise<Microdollars | undefined> {
  if (text !== undefined) return givenBudget(app, text);
  if ((await app.caps()).perPlan !== undefined) return undefined;
  const models = await app.models();
  const much = { inputTokens: 1_000_000, outputTokens: 1_000_000, estimated: true };
  const found = await Promise.all(actors.map((name) => app.actorNamed(name)));
  const costs = (await modelsOfActors(app, found)).map((ref) => models.costOf(ref, much));
  if (costs.includes(undefined) || !costs.some((cost) => cost !== undefined && cost > 0)) return undefined;
  return capOf((await app.setting("budget.per-run")).value);
}
