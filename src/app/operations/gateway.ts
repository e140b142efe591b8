/**
 * Stands between an agent program and its provider for as long as that program runs: the spending of the run stops at
 * its cap, secrets are masked, and the real keys stay here. Without a program it serves until it is stopped.
 */
import { once } from "node:events";
import * as z from "zod";
import { agentEnvironment, gatewayVariables } from "../../actors/gateway/agent-environment.ts";
import { GatewayBudget } from "../../actors/gateway/gateway-budget.ts";
import { openGateway, type Gateway } from "../../actors/gateway/gateway-server.ts";
import type { ModelGateway } from "../../actors/model-gateway.ts";
import type { ModelRef } from "../../actors/models/model.ts";
import { knownProviders, parseModelRef, requireProvider, secretsToMask } from "../../actors/providers/providers.ts";
import { UsageError } from "../../domain/errors/errors.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import { monotonicIds } from "../../domain/names/ids.ts";
import { capOf, capProblem } from "../../domain/settings/budget-settings.ts";
import { gatewaySpending } from "../../ledger/budget-report.ts";
import { Budget, type GatewayScope } from "../../ledger/budgets.ts";
import { gatewayUsage, insertGatewayCall } from "../../ledger/model-calls.ts";
import { runInForeground } from "../../platform/foreground-program.ts";
import type { App } from "../base/app.ts";
import type { Call } from "../base/call.ts";
import { defineOperation } from "../base/operation.ts";
import { SpendingFacts, spendingFacts } from "../queries/spending.ts";

const Input = z.strictObject({
  /** The program and its words; none: serves until the call is stopped. */
  command: z.array(z.string()).default([]),
  budget: z.string().optional(),
  maxOutputTokens: z.int().min(1, "must be at least 1").optional(),
  model: z.string().optional(),
  network: z.boolean().default(false),
  directory: z.string(),
});

export const operation = defineOperation({
  input: Input,
  output: z.strictObject({
    gatewayId: z.string(),
    /** Of the program; null when there was none. */
    exitCode: z.int().nullable(),
    cost: SpendingFacts,
    tokens: z.strictObject({ input: z.int(), cached: z.int(), output: z.int() }),
    /** Requests that were not sent because of a budget. */
    refusedCalls: z.int(),
  }),
  run: async (app, input, call) => {
    const scope = await scopeOf(app, input.budget);
    const models = await app.models();
    const model = await chosenModel(models, input.model);
    const port = await budgetPort(app, { scope, models, call, quiet: input.command.length > 0 });
    const gateway = await openGateway({
      providers: models.providers,
      count: await app.countTokens(),
      known: secretsToMask(models.providers, app.environment),
      port,
      model,
      maxOutputTokens: input.maxOutputTokens,
      network: input.network,
      onFailure: (error) =>
        call.tell({ type: "notice", level: "warning", text: `The gateway failed: ${String(error)}` }),
    });
    let exitCode: number | null;
    try {
      exitCode = await served(app, gateway, input, call);
    } finally {
      await gateway[Symbol.asyncDispose]();
    }
    return { gatewayId: scope.id, exitCode, ...(await usedBy(app, scope)), refusedCalls: port.refused };
  },
});

/** Until the program ends; without one, until the call is stopped. */
async function served(
  app: App,
  gateway: Gateway,
  { command, directory }: z.output<typeof Input>,
  call: Call,
): Promise<number | null> {
  const [program, ...words] = command;
  if (program === undefined) {
    call.tell({ type: "gateway_ready", variables: gatewayVariables(gateway) });
    if (!call.signal.aborted) await once(call.signal, "abort");
    return null;
  }
  const providers = knownProviders((await app.config()).global, app.environment, await app.modelFacts());
  const environment = agentEnvironment(app.environment, providers, gateway);
  return runInForeground([program, ...words], { environment, directory, signal: call.signal });
}

/** The cap of this run: as given, else what is configured for a run. */
async function scopeOf(app: App, given: string | undefined): Promise<GatewayScope> {
  const problem = given === undefined ? undefined : capProblem(given);
  if (problem !== undefined)
    throw new UsageError(`A budget ${problem}, not "${given}".`, { kept: "Nothing was started." });
  const amount = capOf(given ?? (await app.setting("budget.per-run")).value);
  const raise = nextStep("gateway", { budget: "<dollars>" });
  return { id: monotonicIds()(), cap: amount === undefined ? undefined : { amount, raise } };
}

/** An unknown provider is an error before the program starts. */
async function chosenModel(models: ModelGateway, named: string | undefined): Promise<ModelRef | undefined> {
  if (named === undefined) return undefined;
  if (!/^[^/]+\/./.test(named))
    throw new UsageError(`A model is named as provider/model, not "${named}".`, {
      kept: "Nothing was started.",
      next: [nextStep("models.list")],
    });
  const model = parseModelRef(named);
  requireProvider(models.providers, model);
  return model;
}

async function budgetPort(
  app: App,
  parts: {
    readonly scope: GatewayScope;
    readonly models: ModelGateway;
    readonly call: Call;
    /** A program has the terminal. */
    readonly quiet: boolean;
  },
): Promise<GatewayBudget> {
  const { scope, models, call, quiet } = parts;
  const store = await app.store();
  return new GatewayBudget({
    budget: new Budget({ store, caps: await app.caps(), gateway: scope, user: await app.user() }),
    costOf: (model, usage) => models.costOf(model, usage),
    record: (made) => store.transaction((tx) => insertGatewayCall(tx, { ...made, gatewayId: scope.id })),
    onWarning: (warning) => {
      if (!quiet) call.tell({ type: "budget_warning", ...warning });
    },
  });
}

async function usedBy(
  app: App,
  scope: GatewayScope,
): Promise<{
  readonly cost: z.output<typeof SpendingFacts>;
  readonly tokens: { readonly input: number; readonly cached: number; readonly output: number };
}> {
  const { spending, usage } = await (
    await app.store()
  ).read(async (reader) => ({
    spending: await gatewaySpending(reader, scope),
    usage: await gatewayUsage(reader, scope.id),
  }));
  const tokens = { input: usage.inputTokens, cached: usage.cachedTokens, output: usage.outputTokens };
  return { cost: spendingFacts(spending), tokens };
}
