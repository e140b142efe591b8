import { createHash } from "node:crypto";
import { leavesMachine, wantsNothing, type ActorWants, type TakenVariable } from "../domain/actor-wants.ts";
import { UsageError } from "../domain/errors.ts";
import { allow, pairText, readTrust } from "../store/trust-file.ts";
import type { Input } from "./command-spec.ts";
import { canAsk, confirmed, type Asking } from "./confirm.ts";

/**
 * The first use of a file that wants more than the harmless. A person is shown what it wants and asked; without a terminal, `--yes` and
 * `--allow-env` say so. The same content is not asked for again, nor is a variable for the same endpoint.
 */
export interface ForeignFile {
  readonly text: string;
  /** As messages call it. */
  readonly file: string;
  /** It may come from another person. */
  readonly outside: boolean;
  readonly wants: ActorWants;
}

/** Whether the file may be used; false when the user said no. */
export async function accepted(
  dataDir: string,
  input: Input,
  { text, file, outside, wants }: ForeignFile,
  asking?: Asking,
): Promise<boolean> {
  if (wantsNothing(wants)) return true;
  const hash = createHash("sha256").update(text).digest("hex");
  const trust = readTrust(dataDir);
  const known = new Set(trust.variables.map(pairText));
  const allowed = new Set(input.texts("allowEnv"));
  const open = wants.variables.filter((one) => !known.has(pairText(one)) && !allowed.has(one.name));
  if (trust.files.includes(hash) && open.length === 0) return true;
  const yes = input.flag("yes");
  if (canAsk(asking) && !yes) {
    (asking?.output ?? process.stderr).write(`${describe(file, wants)}\n`);
    if (!(await confirmed("Use this file?", false, asking))) return false;
  } else {
    if (open.length > 0) throw variablesRefused(file, open);
    // The user's own file, named in the user's own script: its commands run in the sandbox, and its endpoint is on this machine.
    if (!yes && (outside || leavesMachine(wants) || wants.unsafe.length > 0)) throw unasked(file, wants);
  }
  await allow(dataDir, { files: [hash], variables: wants.variables });
  return true;
}

function describe(file: string, wants: ActorWants): string {
  return [`${file} wants:`, ...lines(wants).map((line) => `  ${line}`)].join("\n");
}

function lines({ commands, endpoints, variables, unsafe }: ActorWants): string[] {
  return [
    ...commands.map((command) => `to run in the sandbox: ${command}`),
    ...endpoints.map((url) => `to send prompts and code to ${url}`),
    ...variables.map(({ name, endpoint }) => `to send the value of ${name} to ${endpoint}`),
    ...unsafe.map((name) => `${name} calls itself unsafe`),
  ];
}

function variablesRefused(file: string, open: readonly TakenVariable[]): UsageError {
  const names = [...new Set(open.map(({ name }) => name))];
  const places = [...new Set(open.map(({ endpoint }) => endpoint))];
  return new UsageError(
    `${file} takes along ${names.join(", ")} from your environment, to ${places.join(" and ")}; you have not allowed that.`,
    {
      kept: "Nothing was written.",
      next: [`repeat the command with ${names.map((name) => `--allow-env ${name}`).join(" ")}`],
      detail: { variables: open },
    },
  );
}

function unasked(file: string, wants: ActorWants): UsageError {
  return new UsageError(
    `${file} was not used before, and wants ${lines(wants).join("; ")}. Nobody can be asked here.`,
    {
      kept: "Nothing was written.",
      next: [`read ${file}`, "repeat the command with --yes"],
      detail: { wants },
    },
  );
}
