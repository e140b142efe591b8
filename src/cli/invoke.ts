/** One command: words → operation → view. */
import { approveEverything, type Call } from "../app/base/call.ts";
import { toWire } from "../app/base/wire.ts";
import type { CleverAgents } from "../app/open.ts";
import { OPERATIONS, type InputOf, type OperationName, type OutputOf } from "../app/table/operation-table.ts";
import type { NextStep } from "../domain/errors/next-step.ts";
import type { OutputFormat } from "../domain/settings/settings.ts";
import type { Command } from "./words/command-table.ts";
import { canAsk } from "./terminal/confirm.ts";
import { inputOf, ownOptionsOf, type Words } from "./words/input-words.ts";
import type { Io } from "./terminal/io.ts";
import type { Outcome } from "./terminal/outcome.ts";
import { screenFor } from "./terminal/render.ts";
import type { Picture, Show } from "./terminal/show.ts";
import { spellNext } from "./words/spell-next.ts";
import { terminalAsk } from "./terminal-ask.ts";
import type { Watching } from "./terminal/watching.ts";

export interface Invocation {
  readonly agents: CleverAgents;
  readonly io: Io;
  readonly format: OutputFormat;
  readonly verbose: boolean;
  readonly watching: Watching;
}

export async function invoke<Name extends OperationName>(
  name: Name,
  { command, words, show }: { readonly command: Command; readonly words: Words; readonly show: Show<Name> },
  invocation: Invocation,
): Promise<Outcome> {
  const { agents, io, format, verbose, watching } = invocation;
  const options = ownOptionsOf(command, words);
  // The operation's own schema is the judge of the words.
  const input = (await inputOf(command, words, io)) as InputOf<Name>;
  const output = await agents.run(name, input, callOf(invocation, options["yes"] === true)).finally(watching.pause);
  const machine = format === "json" || format === "yaml";
  const screen = screenFor(machine ? "plain" : format, io.outTerminal);
  const picture = await show(output, { input, machine, options, screen, io, verbose });
  return outcomeOf(picture, await wired(name, output), nextOf(output));
}

function callOf({ io, format, watching }: Invocation, yes: boolean): Call {
  const { signal, tell, pause } = watching;
  if (yes) return { signal, tell, ask: approveEverything, answers: "program" };
  const person = canAsk(io.asking);
  return { signal, tell, ask: terminalAsk(io, format, pause), answers: person ? "person" : "none" };
}

async function wired<Name extends OperationName>(name: Name, output: OutputOf<Name>): Promise<Outcome["data"]> {
  const { operation } = await OPERATIONS[name].load();
  return toWire(operation.output, output, spellNext) as Outcome["data"];
}

function outcomeOf(picture: Picture, data: Outcome["data"], own: readonly NextStep[]): Outcome {
  const { next = own, ...rest } = picture;
  return { ...rest, data, next };
}

function nextOf(output: unknown): readonly NextStep[] {
  const { nextSteps = [] } = output as { readonly nextSteps?: readonly NextStep[] };
  return nextSteps;
}
