import { existsSync } from "node:fs";
import { relative, resolve, sep } from "node:path";
import type { Gap } from "../../context/model.ts";
import { AgentsError, UsageError } from "../../domain/errors.ts";
import { directorySource, type ContextSource } from "../../plans/project-context.ts";
import type { CommandContext } from "../command-context.ts";
import type { Input } from "../command-spec.ts";
import { activeStrategiesData, budgetData, detailsData } from "../context-data.ts";
import { contextMessages, indexData } from "../context-messages.ts";
import { askedContext, type AskedContext } from "../context-request.ts";
import { assembleFor } from "../context-run.ts";
import { usedText } from "../context-view.ts";
import { count } from "../format.ts";
import type { Message, Outcome } from "../outcome.ts";

/** What fits beside a conversation in most models' windows. */
const DEFAULT_TOKENS = 32_000;

/** A ready context for any model, of any directory: the text alone on stdout, so that it can be piped; everything else on stderr. */
export async function contextPack(context: CommandContext, input: Input): Promise<Outcome> {
  const question = input.arguments(0).join(" ").trim();
  if (question === "" && input.texts("focus").length === 0) {
    throw new UsageError("What is it about? Ask a question, or name a --focus.", {
      kept: "Nothing was read.",
      next: ['agents context pack "where are sessions checked?"'],
    });
  }
  const path = input.text("path");
  const source = directorySource(path ?? process.cwd(), path !== undefined);
  const asked = inDirectory(askedContext(input, question), source, path ?? process.cwd());
  const result = await assembleFor(context, source, asked);
  const { assembled } = result;
  const messages = contextMessages(result, asked.request);
  if (assembled.fragments.length === 0) throw nothing(messages, source);
  const summary = `${count(assembled.fragments.length, "fragment")}, ${usedText(assembled)}.`;
  const all: Message[] = [...messages, ...gapMessages(assembled.gaps), { level: "info", text: summary }];
  if (!["json", "yaml"].includes(await context.format())) {
    for (const { level, text } of all) process.stderr.write(`${level === "warning" ? "warning: " : ""}${text}\n`);
  }
  return {
    data: {
      question,
      root: source.name,
      text: assembled.text,
      active_strategies: activeStrategiesData(assembled),
      budget: budgetData(assembled, asked.budgetSource),
      ...detailsData(assembled),
      index: indexData(result.indexed),
    },
    view: [],
    messages: all,
    text: assembled.text,
  };
}

/** A path may be meant from where the user is, below the root of the repository. */
function inDirectory(
  asked: AskedContext,
  source: ContextSource,
  directory: string,
): AskedContext & { readonly budgetSource: string } {
  const focus = asked.request.focus.map((entry) => {
    const [path = "", ...symbol] = entry.split("#");
    const full = resolve(directory, path);
    const inside = relative(source.name, full);
    if (!existsSync(full) || inside === "" || inside.startsWith("..")) return entry;
    return [inside.replaceAll(sep, "/"), ...symbol].join("#");
  });
  const { budget = DEFAULT_TOKENS } = asked;
  const budgetSource = asked.budget === undefined ? "default" : "override";
  return { ...asked, request: { ...asked.request, focus }, budget, budgetSource };
}

/** Into a pipe nothing must not go unnoticed. */
function nothing(messages: readonly Message[], source: ContextSource): AgentsError {
  const why = messages.find(({ level }) => level === "warning")?.text ?? "Nothing was found.";
  return new AgentsError("not_found", why, {
    kept: "Nothing was printed.",
    next: [`agents context analyze --path ${source.name}`],
    detail: { root: source.name },
  });
}

/** That nobody configured a backend is said in the text itself, and need not be said each time. */
function gapMessages(gaps: readonly Gap[]): Message[] {
  return gaps.flatMap(({ kind, name, reason }) =>
    kind === "backend" ? [] : [{ level: "warning", text: `${name}: ${reason}` }],
  );
}
