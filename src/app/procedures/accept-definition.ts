/**
 * The first use of a definition that wants more than the harmless. A person is shown what it wants and asked. A program
 * that calls means it, but names the environment variables that may be sent. Where no one can be asked, only the user's
 * own harmless enough file is used. The same content is not asked for again, nor is a variable for the same endpoint.
 */
import { createHash } from "node:crypto";
import {
  leavesMachine,
  wantsNothing,
  wantTexts,
  type ActorWants,
  type TakenVariable,
} from "../../domain/actor/actor-wants.ts";
import { UsageError } from "../../domain/errors/errors.ts";
import { allow, pairText, readTrust } from "../../platform/settings/trust-file.ts";
import type { App } from "../base/app.ts";
import { confirmed, type Call } from "../base/call.ts";

export interface OfferedDefinition {
  readonly text: string;
  /** Of everything that is accepted, where that is more than the text. */
  readonly hash?: string;
  /** As messages call it. */
  readonly file: string;
  /** It may come from another person. */
  readonly outside: boolean;
  readonly wants: ActorWants;
  /** Variables of the environment that the caller lets it take. */
  readonly allowEnv: readonly string[];
}

/** Shown before the question. */
export interface DefinitionWants {
  readonly file: string;
  readonly wants: ActorWants;
}

/** Whether the definition may be used; false when the user said no. */
export async function acceptDefinition(app: App, offered: OfferedDefinition, call: Call): Promise<boolean> {
  const { text, file, outside, wants, allowEnv } = offered;
  if (wantsNothing(wants)) return true;
  const { dataDir } = app.paths;
  const hash = offered.hash ?? createHash("sha256").update(text).digest("hex");
  const trust = readTrust(dataDir);
  const known = new Set(trust.variables.map(pairText));
  const allowed = new Set(allowEnv);
  const open = wants.variables.filter((one) => !known.has(pairText(one)) && !allowed.has(one.name));
  if (trust.files.includes(hash) && open.length === 0) return true;
  if (call.answers === "person") {
    const shown: DefinitionWants = { file, wants };
    if (!(await confirmed(call, "Use this file?", [{ kind: "definition", output: shown }]))) return false;
  } else {
    if (open.length > 0) throw variablesRefusedError(file, open);
    // The user's own file, named in the user's own script: its commands run in the sandbox, and its endpoint is on this
    // machine.
    const harmless =
      !outside && !leavesMachine(wants) && wants.unsafe.length === 0 && (wants.modules ?? []).length === 0;
    if (call.answers === "none" && !harmless) throw notAskedError(file, wants);
  }
  await allow(dataDir, { files: [hash], variables: wants.variables });
  return true;
}

function variablesRefusedError(file: string, open: readonly TakenVariable[]): UsageError {
  const names = [...new Set(open.map(({ name }) => name))];
  const places = [...new Set(open.map(({ endpoint }) => endpoint))];
  return new UsageError(
    `${file} takes along ${names.join(", ")} from your environment, to ${places.join(" and ")}; you have not allowed that.`,
    {
      kept: "Nothing was written.",
      next: [{ text: `repeat the command with ${names.map((name) => `--allow-env ${name}`).join(" ")}` }],
      detail: { variables: open },
    },
  );
}

function notAskedError(file: string, wants: ActorWants): UsageError {
  return new UsageError(
    `${file} was not used before, and wants ${wantTexts(wants).join("; ")}. There is no terminal to ask on.`,
    {
      kept: "Nothing was written.",
      next: [{ text: `read ${file}` }, { text: "repeat the command with --yes" }],
      detail: { wants },
    },
  );
}
