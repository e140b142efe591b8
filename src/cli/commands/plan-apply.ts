import type { PreparedLandings } from "../../apply/prepare.ts";
import type { Landing } from "../../apply/landing.ts";
import { shortRef } from "../../apply/git-target.ts";
import { diffOf } from "../../execution/kept-diff.ts";
import { planChanges } from "../../execution/step-runner.ts";
import type { CommandContext } from "../command-context.ts";
import type { Input } from "../command-spec.ts";
import { unconfinedWarning } from "../confinement-line.ts";
import { confirmed, declined, type Asking } from "../confirm.ts";
import { count, instant } from "../format.ts";
import { interruptible } from "../interrupt.ts";
import { info, type Message, type Outcome } from "../outcome.ts";
import { progress } from "../progress.ts";
import { oneLine } from "../terminal-text.ts";
import type { Element } from "../view.ts";
import { planData, readInPlace } from "./plan-data.ts";

/** Lands the plan's changes, after showing what will land where. */
export async function planApply(context: CommandContext, input: Input, asking?: Asking): Promise<Outcome> {
  const service = await context.plans();
  const seen = await service.getPlan(input.argument(0));
  const store = await context.store();
  const diff = await diffOf(store, await planChanges(store, seen.id, seen.attempt));
  const changes = { files: diff.files.length, insertions: diff.insertions, deletions: diff.deletions };
  const applier = await context.applier();
  const { where } = await readInPlace(context, seen);
  if (!input.flag("yes")) writePreview(await applier.preview("apply", seen.id));
  const amount = `${count(changes.files, "file")} (+${changes.insertions} −${changes.deletions})`;
  const question = where === "" ? `Land ${amount}?` : `Take ${amount} as they are in ${where}?`;
  if (!(await confirmed(question, input.flag("yes"), asking))) return declined("applied");

  const format = await context.format();
  const told = progress(format);
  const unconfined = await unconfinedWarning(seen.profile, format);
  const onProgress = (doing: string, runsCommand = false): void => {
    if (runsCommand) unconfined.warn();
    told(doing);
  };
  const { signal, stop } = interruptible();
  const options = {
    allowEmpty: input.flag("allowEmpty"),
    verify: input.flag("verify"),
    // With --yes nobody was asked.
    approved: !input.flag("yes"),
    onProgress,
    signal,
  };
  const { plan, landings, kept, inPlace, changedSince } = await applier.apply(seen.id, options).finally(stop);
  const next = [`agents plan undo ${plan.id}`, ...(inPlace.length === 0 ? ["agents cleanup run"] : [])];
  const already = inPlace.map(({ path }) => path).join(", ");
  return {
    data: {
      ...planData(plan),
      artifacts: changes.files,
      changes: { insertions: changes.insertions, deletions: changes.deletions },
      applied_at: instant(plan.updatedAt),
      landings: landings.map(landingData),
      kept_files: kept,
      in_place: inPlace.map(({ alias, path }) => ({ resource: alias, path })),
      changed_since: changedSince,
      next_steps: next,
    },
    view: [landingTable(landings)],
    messages: [
      ...unconfined.messages(),
      ...info(
        `Plan ${plan.id} is applied: ${amount}${already === "" ? "" : `; the changes are in ${already} already`}.`,
      ),
      ...(changedSince.length === 0
        ? []
        : info(
            `Somebody changed these since, and that stays: ${changedSince.slice(0, 5).join(", ")}${changedSince.length > 5 ? ` and ${changedSince.length - 5} more` : ""}.`,
          )),
      ...lateEdits(kept),
    ],
    next,
  };
}

/** What will land where, before the question. */
export function writePreview({ landings, conflicts, held }: PreparedLandings): void {
  const lines = landings.map(({ alias, root, git, files }) => {
    const branch = git === undefined ? "" : ` (${shortRef(git.ref)}${git.checkedOut ? "" : ", not checked out"})`;
    const names = files.slice(0, 5).map(({ path }) => path);
    const more = files.length > 5 ? ` and ${files.length - 5} more` : "";
    return `${alias}: ${root}${branch}: ${names.join(", ")}${more}`;
  });
  const problems = conflicts.map(
    ({ resource, path, why }) => `conflict: ${[resource, path].filter(Boolean).join("/")} ${why}`,
  );
  const stays = held.map(
    ({ resource, path, plans }) => `stays: ${resource}/${path}, which plan ${plans.join(", plan ")} made too`,
  );
  process.stderr.write([...lines, ...stays, ...problems].map((line) => `${oneLine(line)}\n`).join(""));
}

export function landingData({ alias, root, git, files }: Landing): Readonly<Record<string, unknown>> {
  return {
    resource: alias,
    path: root,
    branch: git === undefined ? null : shortRef(git.ref),
    commit: git === undefined ? null : git.newCommit,
    previous_commit: git === undefined ? null : git.oldCommit,
    checked_out: git?.checkedOut ?? null,
    files: files.map(({ path }) => path),
  };
}

export function landingTable(landings: readonly Landing[]): Element {
  return {
    kind: "table",
    title: "Landed",
    columns: [{ keep: "Resource" }, "Branch", "Commit", "Files", "Path"],
    rows: landings.map(({ alias, root, git, files }) => [
      alias,
      git === undefined ? "-" : shortRef(git.ref),
      git === undefined ? "-" : git.newCommit.slice(0, 10),
      git?.checkedOut === false ? "not checked out" : String(files.length),
      root,
    ]),
    empty: "Everything was there already.",
  };
}

/** Some program wrote into a file after it had been replaced: what it wrote is not lost. */
export function lateEdits(kept: readonly string[]): Message[] {
  if (kept.length === 0) return [];
  return [
    { level: "warning", text: `A program was still writing into replaced files; they are kept: ${kept.join(", ")}.` },
  ];
}
