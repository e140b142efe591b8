/** The questions of operations, asked on a terminal. */
import type { Ask, Question, Reply, Shown } from "../app/base/call.ts";
import type { OutputFormat } from "../domain/settings/settings.ts";
import { answerTo, typedAnswer } from "./terminal/confirm.ts";
import { print } from "./terminal/gate.ts";
import type { Io } from "./terminal/io.ts";
import { render, screenFor } from "./terminal/render.ts";
import { oneLine, type Text } from "./terminal/terminal-text.ts";
import { shownView } from "./views/shown.ts";

export function terminalAsk(io: Io, format: OutputFormat, beforeQuestion: () => void): Ask {
  return async (question) => {
    beforeQuestion();
    if (question.kind !== "plan") {
      const human = format === "json" || format === "yaml" ? undefined : format;
      // The wishes of a definition are shown in every format: a yes without having seen them would mean nothing.
      const shown = question.shown.filter(({ kind }) => human !== undefined || kind === "definition");
      for (const one of shown) print(io.stderr, await drawn(one, io, human ?? "plain"));
    }
    return reply(question, io);
  };
}

async function reply(question: Question, io: Io): Promise<Reply> {
  switch (question.kind) {
    case "confirm":
      return isYes(await answerTo(`${question.text} [y/N] `, io.asking)) ? { kind: "yes" } : { kind: "no" };
    case "strategy": {
      const answer = await answerTo(`${question.text} [y/N, or what should be different] `, io.asking);
      if (isYes(answer)) return { kind: "yes" };
      return /^(no?)?$/i.test(answer) ? { kind: "no" } : { kind: "text", text: answer };
    }
    case "plan":
      return answerQuestion(question, io);
    case "review":
      return { kind: "text", text: await answerTo(question.text, io.asking) };
    case "value": {
      const last = question.text.lastIndexOf("\n") + 1;
      io.stderr.write(question.text.slice(0, last));
      const typed = await typedAnswer(question.text.slice(last), io.asking, question.hidden);
      return typed === undefined ? { kind: "none" } : { kind: "text", text: typed };
    }
    case "edit":
      return (await io.edit(question.file)) ? { kind: "yes" } : { kind: "none" };
    case "choice": {
      const ways = `${question.alternatives.join("/")}, d1 for a diff, Enter for none`;
      const answer = await answerTo(`${question.text} [${ways}] `, io.asking);
      return answer === "" ? { kind: "none" } : { kind: "text", text: answer };
    }
  }
}

/** A number stands for one of the alternatives; any other text goes to the plan as it is. */
async function answerQuestion({ text, alternatives }: Extract<Question, { kind: "plan" }>, io: Io): Promise<Reply> {
  const ways = alternatives.map((one, index) => `  ${index + 1}. ${oneLine(one)}\n`);
  io.stderr.write(`${text}\n${ways.join("")}`);
  const answer = await answerTo(ways.length === 0 ? "> " : "a number, or what to do instead > ", io.asking);
  const chosen = /^\d{1,3}$/.test(answer) ? (alternatives[Number(answer) - 1] ?? "") : answer;
  return chosen === "" ? { kind: "none" } : { kind: "text", text: chosen };
}

function isYes(answer: string): boolean {
  return /^y(es)?$/i.test(answer);
}

async function drawn(shown: Shown, io: Io, format: Exclude<OutputFormat, "json" | "yaml">): Promise<Text> {
  const screen = screenFor(format, io.errTerminal);
  const { view, text } = await shownView(shown, screen);
  return text ?? [render(view, screen), "\n"];
}
