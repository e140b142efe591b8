/** `agents jobs work`: carries queued plans out until it is stopped. */
import * as z from "zod";
import { UsageError } from "../domain/errors/errors.ts";
import type { Invocation } from "./invoke.ts";
import { count } from "./terminal/format.ts";
import { info, type Outcome } from "./terminal/outcome.ts";
import { inputOf } from "./words/input-words.ts";
import type { ParsedCall } from "./words/program.ts";

const Slots = z.int().min(1).max(64);
const Input = z.object({
  workers: Slots.default(2),
  perProject: Slots.optional(),
  untilEmpty: z.boolean().default(false),
});

export async function workCommand({ command, words }: ParsedCall, invocation: Invocation): Promise<Outcome> {
  const { agents, io, watching } = invocation;
  const parsed = Input.safeParse(await inputOf(command, words, io));
  if (!parsed.success) throw new UsageError("--workers and --per-project are whole numbers from 1 to 64.");
  const { workers, perProject, untilEmpty } = parsed.data;
  const { dataDir, config: configPath } = agents.paths;
  const open = { dataDir, configPath, directory: io.cwd, environment: io.env };
  const { tell } = watching;
  const terminated = new AbortController();
  const release = io.onTerminate(() => terminated.abort());
  const signal = AbortSignal.any([watching.signal, terminated.signal]);
  if (!untilEmpty) {
    const text = `Carrying out queued plans, ${workers} at a time, until Ctrl-C.`;
    tell({ type: "notice", level: "info", text });
  }
  const ended = await io.workOnPlans({ open, workers, perProject, untilEmpty, signal, tell }).finally(release);
  return { data: { plans: ended }, view: [], messages: info(`${count(ended, "plan")} came to an end.`) };
}
