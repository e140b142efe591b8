/** The shape of an agent that is compared: how it is started and resumed, and what its tools are called. */
import { delimiter, dirname, join } from "node:path";
import type { WireName } from "../src/actors/testing/wires/wire.ts";
import type { Speech } from "./agent-model.ts";
import type { Action } from "./agent-tasks.ts";

/** Where one agent works: its private home, the user's repository and the model. */
export interface Place {
  readonly home: string;
  readonly repository: string;
  readonly url: string;
}

export interface Command {
  readonly words: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export interface Contestant {
  readonly name: string;
  readonly version: string;
  readonly wire: WireName;
  /** Once, before the first start. */
  readonly prepare: (place: Place) => Promise<void>;
  readonly start: (place: Place, request: string) => Command;
  /** After a kill, one after the other: the best way that the agent offers without a person at the keyboard. */
  readonly resume: (place: Place) => readonly Command[];
  readonly speech: (place: Place) => Speech;
}

/** The form that models of OpenAI were trained on. */
export function patchOf({ path, old, new: replacement }: Extract<Action, { does: "edit" }>): string {
  const lines = (sign: string, part: string): string =>
    part
      .split("\n")
      .map((line) => `${sign}${line}`)
      .join("\n");
  return `*** Begin Patch\n*** Update File: ${path}\n@@\n${lines("-", old)}\n${lines("+", replacement)}\n*** End Patch\n`;
}

/** Nothing is inherited but the way to programs. */
export function environment({ home }: Place, more: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const path = [dirname(process.execPath), process.env["PATH"] ?? ""].join(delimiter);
  return { PATH: path, HOME: home, TERM: "dumb", LANG: "C.UTF-8", TMPDIR: join(home, "tmp"), ...more };
}
