import { listBreakers, type BreakerStatus } from "../../context/breaker-record.ts";
import { parseView } from "../../domain/context-policy.ts";
import type { ContextResult } from "../../plans/context-service.ts";
import type { ContextSource } from "../../plans/project-context.ts";
import type { CommandContext } from "../command-context.ts";
import type { Input } from "../command-spec.ts";
import {
  activeStrategiesData,
  budgetData,
  contributed,
  detailsData,
  exclusionCounts,
  foundBy,
  rounded,
  statusOf,
  utilization,
} from "../context-data.ts";
import { breakerData, breakersTable } from "./context-breakers.ts";
import { contextGraph, graphData, graphTable } from "../context-graph.ts";
import { contextMessages, indexData } from "../context-messages.ts";
import { askedContext, depthNumber, type AskedContext } from "../context-request.ts";
import { assembleFor } from "../context-run.ts";
import {
  entityNames,
  exclusionsTable,
  fragmentsTable,
  gapsElement,
  number,
  strategiesTable,
  traceTable,
  usedText,
} from "../context-view.ts";
import { count } from "../format.ts";
import type { Outcome } from "../outcome.ts";
import type { View } from "../view.ts";

/** What a model would see of a project, and why: `inspect` for the code, `simulate` for the strategies. Both run what a plan runs. */
interface Seen extends ContextResult {
  readonly asked: AskedContext;
  readonly source: ContextSource;
}

async function look(context: CommandContext, input: Input): Promise<Seen> {
  const view = parseView(input.text("view") ?? "default");
  const asked = askedContext(input, input.text("query") ?? "");
  const { projectSource } = await import("../../plans/project-context.ts");
  const source = await projectSource(await context.store(), input.argument(0), view);
  return { asked, source, ...(await assembleFor(context, source, asked)) };
}

export async function contextInspect(context: CommandContext, input: Input): Promise<Outcome> {
  const seen = await look(context, input);
  const { asked, source, assembled, budgetSource } = seen;
  const { request } = asked;
  const breakers = (await listBreakers(await context.store())).filter(({ project }) => project === source.name);
  const graph = contextGraph(seen.scope, request, assembled);
  return {
    data: {
      inspection: {
        project: source.project ?? null,
        view: source.view.view,
        query: request.query,
        focus: request.focus,
        breadth: request.breadth,
        depth: depthNumber(request.depth),
        depth_name: request.depth,
      },
      uko_graph: graphData(graph),
      active_strategies: activeStrategiesData(assembled),
      budget: budgetData(assembled, budgetSource),
      ...detailsData(assembled),
      breakers: breakers.map(breakerData),
      index: indexData(seen.indexed),
    },
    view: [
      ...summary(seen, "Context"),
      ...graphTable(graph, entityNames(resources(seen))),
      ...body(seen, context),
      ...failing(breakers),
    ],
    messages: contextMessages(seen, request),
    next: [`agents project context show ${source.project} --view ${source.view.view}`],
  };
}

export async function contextSimulate(context: CommandContext, input: Input): Promise<Outcome> {
  const seen = await look(context, input);
  const { asked, source, assembled, budgetSource } = seen;
  const { budget, tokens, fragments, excluded, strategies } = assembled;
  const duplicates = exclusionCounts(excluded).find(({ reason }) => reason === "duplicate");
  const dryRun = "A simulation: nothing was changed but the index.";
  return {
    data: {
      simulation: {
        project: source.project ?? null,
        view: source.view.view,
        query: asked.request.query,
        budget: budget.available,
        budget_source: budgetSource,
        focus: asked.request.focus,
      },
      strategy_results: strategies.map(({ name, confidence, tokens: given }) => ({
        name,
        confidence: rounded(confidence),
        budget_tokens: given,
        fragments: foundBy(assembled, name) ?? 0,
        status: statusOf(assembled, name),
        top: contributed(assembled, name)
          .toSorted((a, b) => b.score - a.score)
          .slice(0, 5)
          .map((one) => ({
            path: one.provenance?.path ?? one.entity,
            depth: depthNumber(one.level),
            tokens: one.tokens,
            score: rounded(one.score),
          })),
      })),
      fusion_result: {
        included_fragments: fragments.length,
        included_tokens: tokens,
        budget_utilization: utilization(tokens, budget.available),
        excluded_fragments: excluded.length,
        excluded_tokens: excluded.reduce((sum, one) => sum + one.tokens, 0),
        deduplicated_fragments: duplicates?.fragments ?? 0,
        skeleton_tokens: 0,
      },
      ...detailsData(assembled),
      index: indexData(seen.indexed),
    },
    view: [...summary(seen, "Simulation"), ...body(seen, context), traceTable(assembled)],
    messages: [{ level: "info", text: dryRun }, ...contextMessages(seen, asked.request)],
    next: [`agents project context inspect ${source.project} --view ${source.view.view}`],
  };
}

/** Only those that have anything to tell. */
function failing(breakers: readonly BreakerStatus[]): View {
  const some = breakers.filter(({ state, failures }) => state !== "closed" || failures > 0);
  return some.length === 0 ? [] : [breakersTable(some)];
}

function summary({ asked, source, assembled, budgetSource, indexed }: Seen, title: string): View {
  const { query, focus } = asked.request;
  const files = indexed.reduce((sum, { result }) => sum + result.files, 0);
  return [
    {
      kind: "fields",
      title: `${title} of ${source.project ?? source.name}, view ${source.view.view}`,
      rows: [
        ...(query === "" ? [] : [["question", query] as const]),
        ...(focus.length === 0 ? [] : [["focus", focus.join(", ")] as const]),
        ["budget", `${usedText(assembled)}; set by ${budgetSource}`],
        ["index", `${number(files)} files in ${count(indexed.length, "resource")}`],
      ],
    },
  ];
}

function resources({ indexed }: Pick<Seen, "indexed">): string[] {
  return indexed.map(({ place }) => place.resource);
}

function body({ assembled, indexed }: Seen, context: CommandContext): View {
  return [
    strategiesTable(assembled),
    fragmentsTable(assembled, entityNames(resources({ indexed })), context.options.verbose > 0),
    exclusionsTable(assembled),
    ...gapsElement(assembled.gaps),
  ];
}
