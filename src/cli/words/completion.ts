/** `agents completion`: prints a script, installs it, or lists the names that a script asks for. */
import type { CleverAgents } from "../../app/open.ts";
import { UsageError } from "../../domain/errors/errors.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import { nearest } from "../../domain/text/suggest.ts";
import type { Io } from "../terminal/io.ts";
import { info, type Outcome } from "../terminal/outcome.ts";
import { confirmed } from "../terminal/confirm.ts";
import { SHELLS, VALUE_KINDS } from "./completion-table.ts";
import { bash, fish, zsh } from "./completion-scripts.ts";
import type { Words } from "./input-words.ts";

export async function completion(
  words: Words,
  { agents, io }: { readonly agents: CleverAgents; readonly io: Io },
): Promise<Outcome> {
  const [wanted] = words.positional.map(String);
  const shell = SHELLS.find((candidate) => candidate === wanted);
  if (shell === undefined) {
    const suggestion = nearest(wanted ?? "", SHELLS);
    throw new UsageError(`There is no completion for "${wanted}" (known: ${SHELLS.join(", ")}).`, {
      next: [nextStep("completion", { shell: suggestion ?? "bash" })],
    });
  }
  const { values, install, yes } = words.options;
  if (typeof values === "string") return listed(shell, values, { agents, io });
  const script = { bash, zsh, fish }[shell]();
  if (install !== true) return { data: { shell, script }, view: [], messages: [], text: script };
  return installed(shell, script, { io, yes: yes === true });
}

async function listed(
  shell: string,
  wanted: string,
  { agents, io }: { readonly agents: CleverAgents; readonly io: Io },
): Promise<Outcome> {
  const kind = VALUE_KINDS.find((one) => one === wanted);
  if (kind === undefined) {
    throw new UsageError(`There are no names of kind "${wanted}" (known: ${VALUE_KINDS.join(", ")}).`);
  }
  const { completionValues } = await import("./completion-values.ts");
  const text = await completionValues(kind, agents, io.cwd);
  // bash shows nothing but the words.
  const shown = shell === "bash" ? text.replaceAll(/\t.*$/gm, "") : text;
  const names = text.split("\n").flatMap((line) => (line === "" ? [] : [line.split("\t")[0]]));
  return { data: { kind, values: names }, view: [], messages: [], text: shown };
}

async function installed(
  shell: (typeof SHELLS)[number],
  script: string,
  { io, yes }: { readonly io: Io; readonly yes: boolean },
): Promise<Outcome> {
  const where = {
    bash: "~/.bashrc gets a line for it",
    zsh: "~/.zshrc gets a line for it",
    fish: "in fish's own directory",
  };
  if (!(await confirmed(`Install the completion script for ${shell} (${where[shell]})?`, yes, io.asking))) {
    const text = "Nothing was installed.";
    return { data: { installed: false }, view: [], messages: [{ level: "warning", text }], status: "warn" };
  }
  const { installCompletion } = await import("./completion-install.ts");
  const { files, startFile } = installCompletion(shell, script, io.env);
  const line = startFile === undefined ? "" : `; ${startFile} has a line for it`;
  return {
    data: { installed: true, shell, files, start_file: startFile ?? null },
    view: [],
    messages: info(
      `The completion script is in ${files[0]}${line}. It works in every ${shell} that starts from now on.`,
    ),
  };
}
