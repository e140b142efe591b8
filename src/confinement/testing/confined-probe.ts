/**
 * Run by a test in a process of its own, as another user if need be: runs commands as steps do, one after another,
 * and prints what came of each. Its argument says what to run, and where.
 */
import { setCommandPolicy } from "../command-policy.ts";
import { runProgram } from "../../execution/tools/shell.ts";

export interface ProbeRequest {
  readonly root: string;
  /** The product's own files: hidden from commands. */
  readonly hidden: readonly string[];
  readonly unixSockets?: boolean;
  readonly network?: boolean;
  readonly readable?: readonly string[];
  readonly commands: Readonly<Record<string, string>>;
}

export type ProbeAnswer = Readonly<
  Record<string, { readonly code: number; readonly output: string; readonly confined: boolean }>
>;

const request = JSON.parse(process.argv[2] ?? "") as ProbeRequest;
const { root, hidden, unixSockets = false, network = false, readable = [] } = request;
setCommandPolicy({ hidden, unixSockets });
const answer: Record<string, ProbeAnswer[string]> = {};
for (const [name, command] of Object.entries(request.commands)) {
  const { code, output, confined } = await runProgram(["/bin/sh", "-c", command], {
    root,
    cwd: root,
    timeoutMs: 60_000,
    signal: new AbortController().signal,
    requireConfinement: false,
    network,
    readable,
  });
  answer[name] = { code, output, confined };
}
process.stdout.write(JSON.stringify(answer satisfies ProbeAnswer));
