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
  if (files.length === 0 || input.flag("stat")) return { data, view, messages };
  return { data, view, messages, raw: await coloured(context, diff.patch) };
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

export async function coloured(context: CommandContext, patch: string): Promise<string> {
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
  return patch
    .split("\n")
    .map((line) => {
      const tone = tones.find(([prefix]) => line.startsWith(prefix))?.[1];
      return tone === undefined ? line : paint(line, tone);
    })
    .join("\n");
}
