import { closeSync, openSync, writeFileSync } from "node:fs";
import { isatty } from "node:tty";
import { UsageError } from "../../domain/errors.ts";
import { hasHidden } from "../../domain/text.ts";
import { diffOf } from "../../execution/kept-diff.ts";
import type { ChangedFile, PlanDiff } from "../../execution/plan-diff.ts";
import { planChanges } from "../../execution/step-runner.ts";
import type { ChangeEntry } from "../../domain/change-entry.ts";
import type { Plan } from "../../domain/plan.ts";
import type { CommandContext } from "../command-context.ts";
import type { Input } from "../command-spec.ts";
import { count } from "../format.ts";
import { info, type Outcome } from "../outcome.ts";
import { leftOutOf } from "./left-out.ts";
import { painter, screenFor } from "../render.ts";
import { joined, type Text } from "../terminal-text.ts";
import { toned, type Tone } from "../view.ts";

/** What the plan changed, as `git diff` shows it, with the step that made each change. */
export async function planDiff(context: CommandContext, input: Input): Promise<Outcome> {
  const { plan, diff, entries } = await read(context, input);
  const left = await leftOutOf(context, plan, entries);
  const { insertions, deletions, files } = diff;
  const data = {
    diff_summary: {
      plan: plan.id,
      project: plan.projects[0]?.project ?? null,
      files_changed: files.length,
      insertions,
      deletions,
      net_change: insertions - deletions,
    },
    files: files.map(({ resource, path, change, steps, decisions }) => ({ resource, path, change, steps, decisions })),
    ...left.data,
    patch: diff.patch,
  };
  const view = [fileTable(files)];
  const summary = `${count(files.length, "file")} changed, ${insertions} insertions, ${deletions} deletions.`;
  const messages = [...info(summary), ...left.messages];
  const file = input.text("output");
  if (file !== undefined) {
    writeExactly(file, diff.patch);
    return { data, view, messages: [...messages, ...info(`The patch is in ${file}.`)] };
  }
  if (files.length === 0 || input.flag("stat")) return { data, view, messages };
  if (!process.stdout.isTTY && hasHidden(diff.patch) && !["json", "yaml"].includes(await context.format()))
    process.stderr.write(`warning: ${NOT_EXACT}\n`);
  return { data, view, messages, text: await coloured(context, diff.patch) };
}

const NOT_EXACT =
  "The changes hold characters that a terminal obeys or hides; they are made visible here. --output FILE writes the patch as it is.";

/** For `git apply`: every byte as it is, so never to a terminal. */
function writeExactly(file: string, patch: string): void {
  const descriptor = opened(file);
  try {
    if (isatty(descriptor)) {
      throw new UsageError(`${file} is a terminal.`, {
        kept: "Nothing was written.",
        next: ["give --output the name of a file, or leave it out"],
      });
    }
    writeFileSync(descriptor, patch);
  } finally {
    closeSync(descriptor);
  }
}

function opened(file: string): number {
  try {
    return openSync(file, "w");
  } catch (error) {
    throw new UsageError(`${file} cannot be written: ${error instanceof Error ? error.message : String(error)}.`, {
      cause: error,
      kept: "Nothing was written.",
    });
  }
}

export async function planArtifacts(context: CommandContext, input: Input): Promise<Outcome> {
  const { diff } = await read(context, input);
  const of = (change: ChangedFile["change"]): number => diff.files.filter((file) => file.change === change).length;
  const total = diff.files.reduce((sum, { size }) => sum + size, 0);
  const types = { added: "write", modified: "edit", mode: "edit", deleted: "delete" } as const;
  return {
    data: {
      artifacts: diff.files.map((file) => ({ ...file, type: types[file.change] })),
      summary: {
        total: diff.files.length,
        writes: of("added"),
        edits: of("modified") + of("mode"),
        deletes: of("deleted"),
        total_size: total,
      },
    },
    view: [fileTable(diff.files)],
    messages: info(`${count(diff.files.length, "artifact")} listed.`),
  };
}

async function read(
  context: CommandContext,
  input: Input,
): Promise<{ plan: Plan; diff: PlanDiff; entries: readonly ChangeEntry[] }> {
  const plan = await (await context.plans()).getPlan(input.argument(0));
  const store = await context.store();
  const entries = await planChanges(store, plan.id, plan.attempt);
  return { plan, diff: await diffOf(store, entries), entries };
}

export function fileTable(files: readonly ChangedFile[]) {
  const tones = { added: "good", deleted: "bad", modified: "warn", mode: "dim" } as const satisfies Record<
    ChangedFile["change"],
    Tone
  >;
  return {
    kind: "table",
    title: "Changes",
    columns: [{ keep: "Path" }, "Resource", "Change", "Bytes", "Steps"],
    rows: files.map((file) => [
      file.path,
      file.resource,
      toned(file.change, tones[file.change]),
      String(file.size),
      file.steps.join(", "),
    ]),
    empty: "No changes.",
  } as const;
}

export async function coloured(context: CommandContext, patch: string): Promise<Text> {
  const format = await context.format();
  if (format === "json" || format === "yaml") return patch;
  const { stdout, env } = process;
  const paint = painter(screenFor(format, { isTTY: stdout.isTTY, columns: stdout.columns, environment: env }));
  const tones: readonly (readonly [string, Tone])[] = [
    ["diff ", "strong"],
    ["+++", "strong"],
    ["---", "strong"],
    ["@@", "dim"],
    ["+", "good"],
    ["-", "bad"],
  ];
  const lines = patch.split("\n").map((line) => {
    const tone = tones.find(([prefix]) => line.startsWith(prefix))?.[1];
    return tone === undefined ? lineEnd(line, "") : paint(lineEnd(line, "^M"), tone);
  });
  return joined(lines, "\n");
}

/** A line that ends in CR LF, as git shows it: where a line changed its end may be all that changed, elsewhere it tells nothing. */
function lineEnd(line: string, mark: string): string {
  return line.endsWith("\r") ? line.slice(0, -1) + mark : line;
}
