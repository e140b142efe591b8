/** The program of an `OwnProcess`: carries out each command that its parent sends, and ends with it. */
import { runCli } from "../run-cli.ts";
import { capturedIo } from "./captured-io.ts";

export interface ServedCall {
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly input: string;
}

process.on("message", ({ args, ...parts }: ServedCall) => void answer(args, parts));
process.on("disconnect", () => process.exit(0));

async function answer(args: readonly string[], parts: Omit<ServedCall, "args">): Promise<void> {
  const io = capturedIo(parts);
  const code = await runCli(args, io);
  process.send?.({ code, ...io.written });
}
