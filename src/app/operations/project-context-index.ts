import * as z from "zod";
import { projectSource } from "../../catalog/project-context.ts";
import type { IndexScope } from "../../code-index/model/index-scope.ts";
import { openScopedIndex } from "../../code-index/search/open-scoped-index.ts";
import { EmbeddingBill } from "../../context/front/embedding-bill.ts";
import { languagesOf } from "../../context/front/index-summary.ts";
import type { EmbeddingEndpoint } from "../../context/model/context-model.ts";
import { AgentsError } from "../../domain/errors/errors.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import type { App } from "../base/app.ts";
import type { Call } from "../base/call.ts";
import { defineOperation } from "../base/operation.ts";
import { NextSteps } from "../base/schemas.ts";
import { bringUpToDate, interruptible } from "../procedures/assemble-context.ts";
import { IndexGapFacts, LanguageFacts, unfiltered } from "../procedures/index-report.ts";
import { IndexFacts, indexFacts } from "../queries/context-facts.ts";

export const operation = defineOperation({
  input: z.strictObject({ project: z.string(), rebuild: z.boolean().default(false) }),
  output: z.strictObject({
    project: z.string().nullable(),
    files: z.int(),
    languages: z.array(LanguageFacts),
    gaps: z.array(IndexGapFacts),
    durationMs: z.int(),
    /** Files that were embedded; null where no embedding model is configured. */
    embedded: z.int().nullable(),
    embeddingModel: z.string().nullable(),
    resources: z.array(IndexFacts),
    nextSteps: NextSteps.optional(),
  }),
  run: async (app, { project: named, rebuild }, call) => {
    const source = await projectSource(await app.store(), named, "default");
    const { scope, indexed } = await bringUpToDate(app, { places: source.places, rebuild }, call);
    const { embedding } = await app.contextConfiguration(source.project);
    const embedded = embedding === undefined ? null : await embedAll(app, { scope, embedding }, call);
    using index = openScopedIndex(unfiltered(scope));
    const languages = languagesOf(index.files());
    return {
      project: source.project ?? null,
      files: languages.reduce((sum, one) => sum + one.files, 0),
      languages: languages.map(({ language, files, bytes, lines }) => ({ language, files, bytes, lines })),
      gaps: index.gaps().map(({ resource, path, reason }) => ({ resource, path, reason })),
      durationMs: Math.round(indexed.reduce((sum, { durationMs }) => sum + durationMs, 0)),
      embedded,
      embeddingModel: embedding?.model ?? null,
      resources: indexFacts(indexed),
      nextSteps: [nextStep("project.context.inspect", { project: source.name, query: "<question>" })],
    };
  },
});

/** Only files that the default view lets through go to the endpoint. */
async function embedAll(
  app: App,
  { scope, embedding }: { readonly scope: IndexScope; readonly embedding: EmbeddingEndpoint },
  call: Call,
): Promise<number> {
  const { embedScope } = await import("../../context/strategies/semantic-embedding.ts");
  const onProgress = (done: number, total: number): void =>
    call.tell({ type: "progress", doing: `embedding by ${embedding.model}`, done, total });
  return interruptible(call, async () => {
    const bill = await EmbeddingBill.open(await app.budget(), embedding, scope, "");
    if (bill === undefined) return 0;
    try {
      return await embedScope({ scope, embedding: bill.endpoint, signal: call.signal, onProgress });
    } catch (error) {
      if (call.signal.aborted) throw error;
      throw new AgentsError("resource_failed", `Embedding failed: ${error instanceof Error ? error.message : ""}.`, {
        cause: error,
        kept: "The index is complete, and files embedded so far are kept.",
        next: [nextStep("config.get", { key: "context.embedding.url" }), { text: "repeat the command" }],
      });
    } finally {
      await bill.settle();
    }
  });
}
