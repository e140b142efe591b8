/**
 * Assembles a context and brings indexes up to date, telling how far it is; an interrupt keeps what was indexed so far.
 */
import type { ContextSource } from "../../catalog/project-context.ts";
import type { ContextResult } from "../../context/front/context-service.ts";
import type { ContextPlace } from "../../context/front/context-places.ts";
import { indexPlaces, type IndexedPlace } from "../../context/front/index-places.ts";
import type { IndexScope } from "../../code-index/model/index-scope.ts";
import { AgentsError } from "../../domain/errors/errors.ts";
import type { App } from "../base/app.ts";
import type { Call } from "../base/call.ts";
import type { AskedContext } from "./question-input.ts";

export async function assembleContext(
  app: App,
  { source, asked }: { readonly source: ContextSource; readonly asked: AskedContext },
  call: Call,
): Promise<ContextResult> {
  const service = await app.contextService(source.project);
  return interruptible(call, () =>
    service.assemble({
      project: source.name,
      places: source.places,
      view: source.view,
      question: asked.question,
      budget: asked.budget,
      model: asked.model,
      signal: call.signal,
      onProgress: indexProgress(call),
    }),
  );
}

export async function bringUpToDate(
  app: App,
  { places, rebuild }: { readonly places: readonly ContextPlace[]; readonly rebuild: boolean },
  call: Call,
): Promise<{ scope: IndexScope; indexed: readonly IndexedPlace[] }> {
  const { dataDir } = app.paths;
  const options = { dataDir, signal: call.signal, onProgress: indexProgress(call), rebuild };
  return interruptible(call, () => indexPlaces(places, options));
}

/** An interrupt leaves the index as it was, and files parsed so far need not be parsed again. */
export async function interruptible<T>(call: Call, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!call.signal.aborted) throw error;
    throw new AgentsError("interrupted", "It was interrupted.", {
      cause: error,
      kept: "Your files are untouched, and the index continues from here the next time.",
      next: [{ text: "repeat the command" }],
    });
  }
}

function indexProgress(call: Call): (resource: string, seen: { done: number; total: number }) => void {
  return (resource, { done, total }) => call.tell({ type: "progress", doing: `indexing ${resource}`, done, total });
}
