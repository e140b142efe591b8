import { execFile } from "node:child_process";
import * as z from "zod";
import { UsageError } from "../../domain/errors/errors.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import { defineOperation } from "../base/operation.ts";
import { VERSION } from "../base/package-version.ts";
import { NextSteps } from "../base/schemas.ts";

const PACKAGE = "cleveragents";
const INSTALL = `npm install -g ${PACKAGE}@latest`;
const PATIENCE_MS = 20_000;

/** Asks npm, which knows the user's registry, proxy and credentials, whether there is a newer version. */
export const operation = defineOperation({
  input: z.strictObject({ check: z.boolean().default(false) }),
  output: z.strictObject({
    installed: z.string(),
    /** Null where it cannot be known; `reason` says why. */
    newest: z.string().nullable(),
    isNewer: z.boolean().nullable(),
    reason: z.string().nullable(),
    nextSteps: NextSteps,
  }),
  run: async (app, { check }, call) => {
    if (!check) {
      throw new UsageError("The program does not replace itself: npm does, which installed it.", {
        kept: "Nothing was changed.",
        next: [nextStep("upgrade", { check: true }), { text: INSTALL }],
      });
    }
    const asked = await askNpm(app.environment, call.signal);
    const newest = "version" in asked ? asked.version : null;
    const isNewer = newest === null ? null : isAbove(newest, VERSION);
    return {
      installed: VERSION,
      newest,
      isNewer,
      reason: "version" in asked ? null : asked.reason,
      nextSteps: isNewer === true ? [{ text: INSTALL }] : [],
    };
  },
});

type Asked = { readonly version: string } | { readonly reason: string };

function askNpm(env: Readonly<Record<string, string | undefined>>, signal: AbortSignal): Promise<Asked> {
  const words = ["view", PACKAGE, "version", "--json", "--fetch-retries=0", `--fetch-timeout=${PATIENCE_MS / 2}`];
  return new Promise((resolve) => {
    execFile("npm", words, { env, signal, timeout: PATIENCE_MS, encoding: "utf8" }, (error, stdout, stderr) => {
      const version = versionIn(stdout);
      if (error === null && version !== undefined) return resolve({ version });
      if (error?.code === "ENOENT") return resolve({ reason: "npm is not installed" });
      const code = /\bnpm (?:ERR!|error) code (\w+)/.exec(stderr)?.[1] ?? /"code": "(\w+)"/.exec(stdout)?.[1];
      if (code === "E404") return resolve({ reason: `npm's registry has no package ${PACKAGE}` });
      resolve({ reason: `npm could not be asked${code === undefined ? "" : ` (${code})`}` });
    });
  });
}

function versionIn(text: string): string | undefined {
  return /^"?(\d+\.\d+\.\d+[\w.+-]*)"?$/.exec(text.trim())?.[1];
}

/** By their numbers; a version before a release is below it. */
function isAbove(one: string, other: string): boolean {
  const parts = (version: string): number[] => [
    ...(version.split(/[-+]/)[0] ?? "").split(".").map(Number),
    version.includes("-") ? 0 : 1,
  ];
  const [left, right] = [parts(one), parts(other)];
  const at = left.findIndex((part, index) => part !== right[index]);
  return at !== -1 && (left[at] ?? 0) > (right[at] ?? 0);
}
