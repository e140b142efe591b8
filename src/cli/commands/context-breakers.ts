import { listBreakers, resetBreakers, type BreakerStatus } from "../../context/breaker-record.ts";
import { NotFoundError, UsageError } from "../../domain/errors.ts";
import { nearest } from "../../domain/suggest.ts";
import type { CommandContext } from "../command-context.ts";
import type { Input } from "../command-spec.ts";
import { count, instant, shortInstant } from "../format.ts";
import { info, type Outcome } from "../outcome.ts";
import { toned, type Cell, type Element } from "../view.ts";

/** The breakers of strategies: which are switched off because they kept failing, and switching them on again. */
export async function breakersList(context: CommandContext): Promise<Outcome> {
  const all = await listBreakers(await context.store());
  const off = all.filter(({ state }) => state !== "closed");
  return {
    data: { breakers: all.map(breakerData), summary: { total: all.length, open: off.length } },
    view: [breakersTable(all)],
    messages: info(
      off.length === 0
        ? "No strategy is switched off."
        : `${count(off.length, "strategy", "strategies")} switched off.`,
    ),
    ...(off.length === 0 ? {} : { next: ["agents context breakers reset <strategy>"] }),
  };
}

export async function breakersReset(context: CommandContext, input: Input): Promise<Outcome> {
  const [strategy, all] = [input.optionalArgument(0), input.flag("all")];
  if ((strategy === undefined) === !all) {
    throw new UsageError("Name one strategy, or --all.", {
      kept: "Nothing was changed.",
      next: ["agents context breakers list"],
    });
  }
  const store = await context.store();
  const named = input.text("project");
  const known = await listBreakers(store);
  const project = named === undefined ? undefined : await projectOf(context, named, known);
  if (strategy !== undefined) requireKnown(strategy, known);
  const reset = await resetBreakers(store, { strategy, project });
  return {
    data: { reset: reset.map(breakerData) },
    view: [],
    messages: info(
      reset.length === 0
        ? "No breaker had anything to forget."
        : `${count(reset.length, "breaker")} reset: tried again at once, in every process.`,
    ),
  };
}

/** A project, or a directory that was packed. */
async function projectOf(context: CommandContext, named: string, known: readonly BreakerStatus[]): Promise<string> {
  if (known.some(({ project }) => project === named)) return named;
  return (await (await context.projects()).getProject(named)).name;
}

function requireKnown(strategy: string, known: readonly BreakerStatus[]): void {
  const names = [...new Set(known.map((breaker) => breaker.strategy))];
  if (names.includes(strategy)) return;
  const suggestion = nearest(strategy, names);
  throw new NotFoundError("breaker of a strategy that ever failed", strategy, {
    kept: "Nothing was changed.",
    ...(suggestion === undefined ? {} : { detail: { suggestion } }),
    next: [suggestion === undefined ? "agents context breakers list" : `agents context breakers reset ${suggestion}`],
  });
}

export function breakerData({
  strategy,
  project,
  state,
  failures,
  openUntil,
  changedAt,
}: BreakerStatus): Record<string, unknown> {
  return {
    strategy,
    project,
    state,
    failures,
    open_until: openUntil === undefined ? null : instant(openUntil),
    changed_at: instant(changedAt),
  };
}

export function breakersTable(breakers: readonly BreakerStatus[]): Element {
  return {
    kind: "table",
    title: "Breakers",
    columns: [{ keep: "Strategy" }, "Project", { keep: "State" }, "Failures", { keep: "Off until" }],
    rows: breakers.map(({ strategy, project, state, failures, openUntil }): Cell[] => [
      strategy,
      project,
      state === "closed" ? state : toned(state, "warn"),
      String(failures),
      openUntil === undefined ? "-" : shortInstant(openUntil),
    ]),
    empty: "",
  };
}
