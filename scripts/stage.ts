import { spawn } from "node:child_process";

/** Runs a command to its end with its output shown; true when it succeeded. */
export async function stage(
  name: string,
  command: readonly string[],
  environment: NodeJS.ProcessEnv = {},
): Promise<boolean> {
  console.log(`\n── ${name}: ${command.join(" ")}`);
  const [program = "", ...args] = command;
  const started = performance.now();
  const child = spawn(program, args, {
    stdio: ["ignore", "inherit", "inherit"],
    env: { ...process.env, ...environment },
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on("exit", resolve);
    child.on("error", reject);
  });
  console.log(
    `── ${name}: ${code === 0 ? "ok" : `failed (${code})`} after ${Math.round((performance.now() - started) / 1000)} s`,
  );
  return code === 0;
}
