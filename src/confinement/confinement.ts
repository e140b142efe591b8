/** Finds the backend that confines commands on this machine, by trying it with a real command once. */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { findProgram } from "../platform/programs.ts";
import type { ConfinementBackend, Launch } from "./backend.ts";
import { LOADER_PATH } from "./backend.ts";
import { bubblewrap } from "./bubblewrap.ts";
import { commandPolicy } from "./command-policy.ts";
import { installCommand } from "./install-command.ts";
import { listOfCalls, must } from "./kernel-calls.ts";
import { firstCalls, lastCalls } from "./last-calls.ts";
import { closeLoader, hasLoader, loaderPlaces, openLoader } from "./loader.ts";
import { unshareArguments, viewCalls } from "./namespaces.ts";
import { seatbelt } from "./seatbelt.ts";

/** The backend that confines commands on this machine; or why there is none, and the one command that helps. */
export type FoundConfinement =
  | {
      readonly kind: ConfinementBackend["kind"];
      readonly backend: ConfinementBackend;
      /** Those that would have been tried next. */
      readonly others: readonly ConfinementBackend[];
    }
  | { readonly kind: "none"; readonly why: string; readonly next: string | undefined };

/** By the PATH it was looked for in, which tests change. */
const known = new Map<string, Promise<FoundConfinement>>();

/** Tried once, with everything that a command is confined by: some systems allow one part of it and not another. */
export function findConfinement(): Promise<FoundConfinement> {
  const path = process.env["PATH"] ?? "";
  const found = known.get(path) ?? find();
  known.set(path, found);
  return found;
}

async function find(): Promise<FoundConfinement> {
  const loader = await workingLoader();
  const complaints: string[] = [];
  const all = candidates(loader);
  for (const [index, backend] of all.entries()) {
    const complaint = await complaintOf(backend);
    if (complaint === undefined) return { kind: backend.kind, backend, others: all.slice(index + 1) };
    complaints.push(`${backend.kind}: ${complaint}`);
  }
  if (loader !== undefined) closeLoader(loader);
  return { kind: "none", why: [...new Set(complaints)].join("; ") || nothingToTry(), next: remedy() };
}

/** In the order in which they are tried. */
function candidates(loader: number | undefined): ConfinementBackend[] {
  if (process.platform === "darwin") return [seatbelt()];
  if (process.platform !== "linux") return [];
  const [bwrap, unshare] = ["bwrap", "unshare"].map((name) => findProgram(name));
  const byBubblewrap =
    bwrap === undefined ? [] : [...new Set([loader, undefined])].map((one) => bubblewrap(bwrap, one));
  if (unshare === undefined || loader === undefined) return byBubblewrap;
  // Root does not need a namespace of users where the system allows none.
  const ways = process.getuid?.() === 0 ? [true, false] : [true];
  return [...byBubblewrap, ...ways.map((userNamespace) => namespaces(unshare, loader, userNamespace))];
}

function namespaces(program: string, descriptor: number, userNamespace: boolean): ConfinementBackend {
  return {
    kind: "namespaces",
    filtered: true,
    loader: descriptor,
    start: (started, view): Launch => {
      const calls = [...firstCalls(started), ...viewCalls(view), ...lastCalls(started, commandPolicy())];
      const args = [...unshareArguments(view.network === "none", userNamespace), LOADER_PATH];
      return { program, args, environment: {}, loaded: { calls: listOfCalls(calls), descriptor } };
    },
  };
}

/** The first place it can be executed from. */
async function workingLoader(): Promise<number | undefined> {
  if (!hasLoader()) return undefined;
  for (const directory of loaderPlaces()) {
    let descriptor: number;
    try {
      descriptor = openLoader(directory);
    } catch {
      continue;
    }
    const calls = listOfCalls([must("exit_group", [0], "")]);
    const attempt: Launch = { program: LOADER_PATH, args: [], environment: {}, loaded: { calls, descriptor } };
    if ((await attempted(attempt)).code === 0) return descriptor;
    closeLoader(descriptor);
  }
  return undefined;
}

/** Undefined when it confines a command as it would any other. */
async function complaintOf(backend: ConfinementBackend): Promise<string | undefined> {
  const view = { readable: [], writable: [], hidden: [], cwd: "/", network: "none" as const };
  const program = { command: ["/bin/sh", "-c", ":"], environment: {}, recorded: false };
  const { code, said } = await attempted(backend.start(program, view));
  return code === 0 ? undefined : said.trim().split("\n").at(-1) || `exit code ${code}`;
}

/** Starts it once, to see whether it works. */
export async function attempted({
  program,
  args,
  environment,
  loaded,
}: Launch): Promise<{ code: number | null; said: string }> {
  const given = loaded === undefined ? [] : (["ignore", "pipe", loaded.descriptor] as const);
  const child = spawn(program, args, {
    cwd: "/",
    env: { ...environment },
    stdio: ["ignore", "ignore", "pipe", ...given],
  });
  let said = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (said += text));
  const list = child.stdio[4];
  if (loaded !== undefined && list != null && "end" in list) list.on("error", () => undefined).end(loaded.calls);
  return new Promise((resolve) => {
    child.on("error", (error) => resolve({ code: null, said: error.message }));
    child.on("close", (code) => resolve({ code, said }));
  });
}

function nothingToTry(): string {
  if (process.platform !== "linux") return `there is nothing for ${process.platform}`;
  return "neither bubblewrap nor unshare of util-linux is installed";
}

/**
 * Where a system switches off what an ordinary user confines by, that; else bubblewrap, which some systems allow
 * more.
 */
function remedy(): string | undefined {
  const setting = SWITCHES.find(([file, off]) => contentOf(file).trim() === off);
  if (setting === undefined || findProgram("unshare") === undefined) return installCommand();
  return `${process.getuid?.() === 0 ? "" : "sudo "}sysctl ${setting[2]}`;
}

const SWITCHES = [
  ["/proc/sys/kernel/unprivileged_userns_clone", "0", "kernel.unprivileged_userns_clone=1"],
  ["/proc/sys/user/max_user_namespaces", "0", "user.max_user_namespaces=10000"],
  ["/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1", "kernel.apparmor_restrict_unprivileged_userns=0"],
] as const;

function contentOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
