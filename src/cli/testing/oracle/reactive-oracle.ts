/**
 * A model that knows the solution of a task and still needs its tools: it begins with a wrong version, and mends a
 * fault only when an observation names the test that the fault breaks. If it does not see enough, or an edit does not
 * apply, the task stays unsolved.
 */
import type { WireAnswer, WireRequest } from "../../../actors/testing/wires/wire.ts";
import { calls } from "../wire-world.ts";
import { LANGUAGES, type Fault, type OracleTask } from "./task.ts";

export class ReactiveOracle {
  readonly #task: OracleTask;
  readonly #open: Fault[];
  #written = false;
  /** Tries of the first call that go wrong by habit. */
  #erred = false;
  #mending: Fault | undefined;

  constructor(task: OracleTask) {
    this.#task = task;
    this.#open = [...task.faults];
  }

  readonly script = (request: WireRequest): WireAnswer => {
    const since = request.messages.slice(request.messages.findLastIndex(({ role }) => role === "assistant") + 1);
    const seen = since.map(({ text }) => text).join("\n");
    if (seen.includes("Decide how this is done")) {
      const step = { id: "solve", description: `Write ${this.#task.path}`, risk: 0.1, confidence: 0.9 };
      return calls("record_strategy", { steps: [step] });
    }
    if (!this.#written) return this.#write(seen);
    if (this.#mending !== undefined) return this.#mended(this.#mending, seen);
    return this.#react(seen);
  };

  /** The wrong version, whole. */
  #write(seen: string): WireAnswer {
    const { path, habit } = this.#task;
    const content = this.#open.reduce((text, { right, wrong }) => text.replace(right, wrong), this.#task.solution);
    if (this.#erred) return this.#writeAgain(seen, content);
    this.#erred = true;
    if (habit === "cut_off")
      return { ...calls("write_file", { path, content: content.slice(0, 60) }), finish: "length" };
    if (habit === "wrong_names") return calls("write_file", { target: path, body: content });
    this.#written = true;
    return calls("write_file", { path, content });
  }

  /** As it was told: in parts after it was cut off, by the names that the tool has. */
  #writeAgain(seen: string, content: string): WireAnswer {
    const { path, habit } = this.#task;
    const half = content.indexOf("\n", content.length / 2) + 1;
    if (habit === "cut_off" && /cut off.*append: true/s.test(seen))
      return calls("write_file", { path, content: content.slice(0, half) });
    this.#written = true;
    if (habit === "cut_off") return calls("write_file", { path, content: content.slice(half), append: true });
    const names = /path\b[^]*content\b/.test(seen) ? { path, content } : { target: path, body: content };
    return calls("write_file", names);
  }

  /** Looks at what the tests or the check say, and begins to mend one fault that they name. */
  #react(seen: string): WireAnswer {
    const { path, language, habit } = this.#task;
    const fault = this.#open.find(({ shownBy }) => isFailing(seen, shownBy));
    if (fault !== undefined) {
      this.#mending = fault;
      // As from memory: the words are right, the blanks and one of them are not.
      const old = habit === "misremembers" ? `${fault.wrong.trim()} ?` : fault.wrong;
      return habit === "wrong_names"
        ? calls("edit_file", { file_path: path, old_string: old, new_string: fault.right })
        : calls("edit_file", { path, old, new: fault.right });
    }
    if (habit === "relies_on_check") return { text: this.#open.length > 0 ? "It should work." : "Mended." };
    if (/^exit code 0/m.test(seen)) return { text: "All tests pass." };
    if (/^exit code/m.test(seen)) return { text: "I do not see what is wrong." };
    return calls("shell_execute", { command: LANGUAGES[language].command });
  }

  /** The edit went well; or the nearest place shows the line as it is, and is used. */
  #mended(fault: Fault, seen: string): WireAnswer {
    const { path, habit } = this.#task;
    const [, line] = /^ *\d+→(.*)$/m.exec(seen) ?? [];
    if (seen.includes("does not contain")) {
      if (line?.includes(fault.wrong.trim()) !== true) return { text: "I do not find the place." };
      return calls("edit_file", { path, old: line, new: line.replace(fault.wrong.trim(), fault.right.trim()) });
    }
    this.#open.splice(this.#open.indexOf(fault), 1);
    this.#mending = undefined;
    return habit === "relies_on_check" ? this.#react("") : this.#react("mended");
  }
}

/** Whether what it is shown says that this test failed, in the words of the three runners, or of a traceback. */
function isFailing(seen: string, test: string): boolean {
  const quoted = test.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  const forms = [`(?:FAIL|ERROR): ${quoted}\\b`, `✖ ${quoted}`, `not ok \\d+ - ${quoted}`, `Failed test '${quoted}'`];
  return forms.some((form) => new RegExp(form).test(seen)) || (seen.includes("Error:") && seen.includes(test));
}
