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
  const { onProgress, end } = await indexProgress(context);
  const { signal, stop } = interruptible();
  try {
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
  } finally {
    end();
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
