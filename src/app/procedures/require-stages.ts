import type { App } from "../base/app.ts";

/** A module that could not be used later is refused now, before there is a plan. */
export async function requireStages(
  app: App,
  project: string | undefined,
  stages: Readonly<Record<string, string>>,
): Promise<void> {
  if (Object.keys(stages).length === 0) return;
  const { loadStages } = await import("../../context/strategies/strategy-registry.ts");
  const { planStages } = await import("../../plans/stage-arguments.ts");
  const { trusted } = await app.contextConfiguration(project);
  await loadStages(Object.fromEntries(planStages(stages)), trusted);
}
