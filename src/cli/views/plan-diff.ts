import { closeSync, openSync, writeFileSync } from "node:fs";
import { isatty } from "node:tty";
import { UsageError } from "../../domain/errors/errors.ts";
import { hasHidden } from "../../domain/text/text.ts";
import { count } from "../terminal/format.ts";
import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";
import { leftOutMessages } from "./parts.ts";
import { colored, creditText, fileTable, shownFiles, type DiffFacts, type Remarks } from "./patch.ts";

const NOT_EXACT =
  "The changes hold characters that a terminal obeys or hides; they are made visible here. --output FILE writes the patch as it is.";

export const show: Show<"plan.diff"> = (diff, { options, io, machine, screen }) => {
  const { files, patch, leftOut, diffSummary } = diff;
  const view = [fileTable(files)];
  const summary = `${count(shownFiles(files).length, "file")} changed, ${count(diffSummary.insertions, "insertion")}, ${count(diffSummary.deletions, "deletion")}.`;
  const messages = [...info(summary), ...leftOutMessages(leftOut)];
  const file = options["output"];
  if (typeof file === "string") {
    writeExactly(io.path(file), file, patch);
    return { view, messages: [...messages, ...info(`The patch is in ${file}.`)] };
  }
  if (files.length === 0 || options["stat"] === true) return { view, messages };
  const { isTTY } = io.outTerminal;
  if (!machine && !isTTY && hasHidden(patch)) io.stderr.write(`warning: ${NOT_EXACT}\n`);
  const remarks = remarksOf(diff);
  return {
    view,
    messages,
    text: colored(patch, screen, remarks === undefined ? { exact: !isTTY } : { remarks, exact: !isTTY }),
    isLong: options["pager"] !== false,
  };
};

/** Below each hunk's header: the step, the tool and the reason. */
function remarksOf({ hunks }: DiffFacts): Remarks | undefined {
  if (hunks === undefined) return undefined;
  const several = new Set(hunks.map(({ resource }) => resource)).size > 1;
  return (file, number) => {
    const name = file.after ?? file.before;
    const own = hunks.filter(({ resource, path }) => name === path || (several && name === `${resource}/${path}`));
    const wanted = own.filter(({ hunk, kind }) =>
      file.hunks.length === 0 || kind === "rename" || kind === "mode" ? number === undefined : hunk === number,
    );
    const lines = wanted.flatMap(({ by }) => by.map(creditText));
    return [...new Set(lines)];
  };
}

/** For `git apply`: every byte as it is, so never to a terminal. */
function writeExactly(path: string, file: string, patch: string): void {
  const descriptor = opened(path, file);
  try {
    if (isatty(descriptor)) {
      throw new UsageError(`${file} is a terminal.`, {
        kept: "Nothing was written.",
        next: [{ text: "give --output the name of a file, or leave it out" }],
      });
    }
    writeFileSync(descriptor, patch);
  } finally {
    closeSync(descriptor);
  }
}

function opened(path: string, file: string): number {
  try {
    return openSync(path, "w");
  } catch (error) {
    throw new UsageError(`${file} cannot be written: ${error instanceof Error ? error.message : String(error)}.`, {
      cause: error,
      kept: "Nothing was written.",
    });
  }
}
