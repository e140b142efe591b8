import { AgentsError } from "../domain/errors.ts";
import type { ContextResult } from "../plans/context-service.ts";
import type { ContextSource } from "../plans/project-context.ts";
import type { CommandContext } from "./command-context.ts";
import type { AskedContext } from "./context-request.ts";
import { progressOf } from "./file-progress.ts";
import { interruptible } from "./interrupt.ts";

/** Assembles what was asked for, with progress on stderr for people; Ctrl-C stops it, and what was indexed so far is kept. */
export async function assembleFor(
  context: CommandContext,
  source: ContextSource,
  asked: AskedContext,
): Promise<ContextResult> {
  const service = await context.contextService(source.project);
  return uninterrupted(async (signal) => {
    const { onProgress, end } = await indexProgress(context);
    using _ = { [Symbol.dispose]: end };
    return await service.assemble({
      project: source.name,
      places: source.places,
      view: source.view,
      request: asked.request,
      budget: asked.budget,
      model: asked.model,
      signal,
      onProgress,
    });
  });
}

/** Ctrl-C stops it: the index is as it was, and what was parsed so far need not be parsed again. */
export async function uninterrupted<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const { signal, stop } = interruptible();
  try {
    return await work(signal);
  } catch (error) {
    if (!signal.aborted) throw error;
    throw new AgentsError("interrupted", "It was interrupted.", {
      cause: error,
      kept: "Your files are untouched, and the index goes on from here the next time.",
      next: ["repeat the command"],
    });
  } finally {
    stop();
  }
}

/** A line for each resource that takes its time. */
export async function indexProgress(
  context: CommandContext,
): Promise<{ onProgress: (resource: string, seen: { done: number; total: number }) => void; end: () => void }> {
  if (["json", "yaml"].includes(await context.format())) return { onProgress: () => undefined, end: () => undefined };
  const shown = new Map<string, ReturnType<typeof progressOf>>();
  return {
    onProgress: (resource, { done, total }) => {
      const progress = shown.get(resource) ?? progressOf(`indexing ${resource}`);
      shown.set(resource, progress);
      progress.update(done, total);
    },
    end: () => {
      for (const progress of shown.values()) progress.end();
    },
  };
}
