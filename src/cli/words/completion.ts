import { UsageError } from "../../domain/errors/errors.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import { nearest } from "../../domain/text/suggest.ts";
import { COMMANDS, GROUPS, optionWord, SUBGROUPS, type Command } from "./command-table.ts";
import type { Outcome } from "../terminal/outcome.ts";

/**
 * Completion scripts, generated from the table of commands. Written here rather than taken from a library because a
 * static script answers at once, while a generic one starts the program at every press of the key.
 */
const SHELLS = ["bash", "zsh", "fish"] as const;
const GLOBAL_OPTIONS = ["--format", "--data-dir", "--config-path", "--verbose", "--help", "--version"];

export function completion(wanted: string): Outcome {
  const shell = SHELLS.find((candidate) => candidate === wanted);
  if (shell === undefined) {
    const suggestion = nearest(wanted, SHELLS);
    throw new UsageError(`There is no completion for "${wanted}" (known: ${SHELLS.join(", ")}).`, {
      next: [nextStep("completion", { shell: suggestion ?? "bash" })],
    });
  }
  const script = { bash, zsh, fish }[shell]();
  return { data: { shell, script }, view: [], messages: [], text: script };
}

/** Words to offer after each command path; the empty path is the program itself. */
function words(): Map<string, string[]> {
  const offered = new Map<string, string[]>([["", [...Object.keys(GROUPS), ...GLOBAL_OPTIONS]]]);
  for (const spec of COMMANDS) {
    const words = spec.path.split(" ");
    for (const depth of words.keys()) {
      const parent = words.slice(0, depth).join(" ");
      const before = offered.get(parent) ?? [];
      if (!before.includes(words[depth] ?? "")) offered.set(parent, [...before, words[depth] ?? ""]);
    }
    offered.set(spec.path, [...longOptions(spec), ...(spec.path === "completion" ? SHELLS : [])]);
  }
  return offered;
}

function longOptions(spec: Command): string[] {
  return optionsOf(spec).map((option) => `--${optionWord(option)}`);
}

function optionsOf({ parameters, ownOptions }: Command): Command["ownOptions"] {
  return [...parameters.filter(({ positional, kind }) => positional !== true && kind !== "here"), ...ownOptions];
}

function bash(): string {
  const cases = [...words()].map(([path, offered]) => `    "${path}") words="${offered.join(" ")}" ;;`);
  return `# agents completion for bash: eval "$(agents completion bash)"
_agents() {
  local current="\${COMP_WORDS[COMP_CWORD]}" path="" word words=""
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) ;; *) case " ${[...words().keys()]
      .filter(Boolean)
      .map((path) => path.replaceAll(" ", ":"))
      .join(" ")} " in
      *" \${path:+$path:}$word "*) path="\${path:+$path:}$word" ;; esac ;; esac
  done
  case "\${path//:/ }" in
${cases.join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _agents agents cleveragents
`;
}

function zsh(): string {
  return `# agents completion for zsh: eval "$(agents completion zsh)"
autoload -U +X bashcompinit && bashcompinit
${bash().split("\n").slice(1).join("\n")}`;
}

function fish(): string {
  const lines = ["# agents completion for fish: agents completion fish | source", "complete -c agents -f"];
  const quoted = (text: string): string => `'${text.replaceAll("'", "\\'")}'`;
  for (const [name, { summary }] of Object.entries(GROUPS)) {
    const description = summary || (COMMANDS.find((spec) => spec.path === name)?.summary ?? "");
    lines.push(`complete -c agents -n __fish_use_subcommand -a ${name} -d ${quoted(description)}`);
  }
  for (const [path, summary] of Object.entries(SUBGROUPS)) {
    const [group = "", name = ""] = path.split(" ");
    lines.push(`complete -c agents -n '__fish_seen_subcommand_from ${group}' -a ${name} -d ${quoted(summary)}`);
  }
  for (const spec of COMMANDS) {
    const words = spec.path.split(" ");
    const after = (group: readonly string[]): string =>
      group.map((word) => `__fish_seen_subcommand_from ${word}`).join("; and ");
    const offer = (word: string, group: readonly string[], summary: string): void =>
      void lines.push(`complete -c agents -n ${quoted(after(group))} -a ${word} -d ${quoted(summary)}`);
    if (words.length > 1) offer(words.at(-1) ?? "", words.slice(0, -1), spec.summary);
    const condition = after(words);
    for (const option of optionsOf(spec)) {
      lines.push(`complete -c agents -n ${quoted(condition)} -l ${optionWord(option)} -d ${quoted(option.about)}`);
    }
  }
  lines.push(`complete -c agents -n '__fish_seen_subcommand_from completion' -a '${SHELLS.join(" ")}'`);
  return `${lines.join("\n")}\ncomplete -c cleveragents -w agents\n`;
}
