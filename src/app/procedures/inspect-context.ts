/** The context that a model would see of a project, made by the same code that a plan runs. */
import * as z from "zod";
import { projectSource, type ContextSource } from "../../catalog/project-context.ts";
import type { ContextResult } from "../../context/front/context-service.ts";
import { parseView } from "../../domain/context/context-policy.ts";
import type { App } from "../base/app.ts";
import type { Call } from "../base/call.ts";
import { assembleContext } from "./assemble-context.ts";
import { askedContext, QuestionInput, type AskedContext } from "./question-input.ts";

export const InspectInput = QuestionInput.extend({
  project: z.string(),
  view: z.string().default("default"),
  query: z.string().default(""),
});

export interface InspectedContext extends ContextResult {
  readonly asked: AskedContext;
  readonly source: ContextSource;
}

export async function inspectContext(
  app: App,
  { project, view, query, ...rest }: z.output<typeof InspectInput>,
  call: Call,
): Promise<InspectedContext> {
  const asked = askedContext(query, rest);
  const source = await projectSource(await app.store(), project, parseView(view));
  return { asked, source, ...(await assembleContext(app, { source, asked }, call)) };
}
