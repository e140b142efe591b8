/** The user's editor on a file, in this terminal. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Environment } from "../../domain/values/environment.ts";

/** The command may have words of its own, as in "code --wait". Ctrl-C belongs to the editor while it runs. */
export async function startEditor(command: string, file: string, environment: Environment): Promise<boolean> {
  const ignore = (): void => undefined;
  process.on("SIGINT", ignore);
  try {
    const words = ["-c", `${command} "$@"`, command, file];
    const editor = spawn("/bin/sh", words, { stdio: "inherit", env: { ...environment } });
    const [code] = (await once(editor, "exit")) as [number | null];
    return code === 0;
  } finally {
    process.off("SIGINT", ignore);
  }
}
