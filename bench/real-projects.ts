/**
 * Real packages that ship their tests, fetched from the registry: each becomes a git repository with a lockfile, whose
 * `node_modules` git ignores. Its test command is run in the checkout and in a sandbox, with each backend that works
 * here; the two must end alike. `--smoke` fetches nothing.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { OnlyBackend, workingBackends } from "../src/confinement/testing/backends.ts";
import { ExecutingPlan } from "../src/execution/testing/executing-plan.ts";
import { UserRepository } from "../src/execution/testing/user-repository.ts";
import type { BenchSize } from "./measure.ts";

interface RealProject {
  readonly name: string;
  /** The part of the package's own test script that tests: linters and audits beside it need more than the package. */
  readonly test: string;
  /** Names of packages that the tests need and the manifest has under another version, or not at all. */
  readonly with?: readonly string[];
  readonly manager?: "pnpm";
}

/** Old enough to have their tests in the package, and each with another runner or another shape of dependencies. */
const PROJECTS: readonly RealProject[] = [
  { name: "minimist@1.2.8", test: "npx tape 'test/**/*.js'" },
  { name: "object-inspect@1.13.2", test: "npx tape 'test/*.js'" },
  { name: "shell-quote@1.8.1", test: "npx tape 'test/**/*.js'" },
  { name: "text-table@0.2.0", test: "npx tape test/*.js", with: ["tape@5"] },
  { name: "through@2.3.8", test: "for file in test/*.js; do node $file || exit 1; done" },
  { name: "traverse@0.6.7", test: "npx tape 'test/**/*.js'" },
  { name: "typedarray@0.0.6", test: "npx tape test/*.js", with: ["tape@5"] },
  { name: "concat-map@0.0.1", test: "npx tape test/*.js", with: ["tape@5"] },
  { name: "duplexer@0.1.2", test: "npx tape test/*.js", with: ["tape@5"] },
  { name: "mkdirp@0.5.6", test: "npx tape test/*.js", with: ["tape@5"] },
  { name: "function-bind@1.1.2", test: "npx tape 'test/**/*.js'", manager: "pnpm" },
  { name: "has-symbols@1.0.3", test: "npx tape 'test/**/*.js'", manager: "pnpm" },
];

export async function run({ size, dir }: { readonly size: BenchSize; readonly dir: string }): Promise<void> {
  const backends = await workingBackends();
  if (size === "smoke") {
    console.log(`real-projects: ${PROJECTS.length} projects, ${backends.join(" and ")}; nothing is fetched`);
    return;
  }
  const rows: string[] = [];
  for (const project of PROJECTS.slice(0, size === "quick" ? 3 : undefined)) {
    for (const row of await tried(project, backends, dir)) {
      rows.push(row);
      console.log(row);
    }
  }
  const apart = rows.filter((row) => row.endsWith("DIFFERENT")).length;
  console.log(`${rows.length} comparisons, ${apart} different (aim: 0)`);
}

async function tried(
  { name, test, with: more = [], manager }: RealProject,
  backends: Awaited<ReturnType<typeof workingBackends>>,
  directory: string,
): Promise<string[]> {
  const work = mkdtempSync(join(directory, "cleveragents-real-"));
  try {
    const packed = spawnSync("npm", ["pack", name, "--silent"], { cwd: work, encoding: "utf8" });
    const archive = packed.stdout.trim().split("\n").at(-1) ?? "";
    if (packed.status !== 0 || !existsSync(join(work, archive))) return [`| ${name} | could not be fetched |`];
    spawnSync("tar", ["-xzf", archive], { cwd: work });
    await using user = await UserRepository.make({ ".gitignore": "node_modules/\n" });
    spawnSync("cp", ["-a", `${join(work, "package")}/.`, user.path]);
    prepared(user.path);
    const problem = installed(user.path, manager, more);
    if (problem !== undefined) return [`| ${name} | ${problem} |`];
    await user.git("add", "--all");
    await user.git("commit", "-qm", "package");
    const outside = spawnSync("sh", ["-c", test], {
      cwd: user.path,
      env: { ...process.env, CI: "1" },
      encoding: "utf8",
    });
    const rows: string[] = [];
    for (const backend of backends) {
      const inside = await inSandbox(user, test, backend);
      const same = (outside.status === 0) === (inside === 0) ? "same" : "DIFFERENT";
      rows.push(`| ${name} | ${manager ?? "npm"} | ${test} | ${backend} | ${outside.status} | ${inside} | ${same}`);
    }
    return rows;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Scripts that run at an installation, and what checks style and publishes, are for the package's authors. */
const FOR_AUTHORS = /eslint|^aud$|changelog|publish|npmignore|^nyc$|^tap$|evalmd|standard/;

function prepared(path: string): void {
  const file = join(path, "package.json");
  const manifest = JSON.parse(readFileSync(file, "utf8")) as { devDependencies?: Record<string, string> };
  const kept = Object.entries(manifest.devDependencies ?? {}).filter(([name]) => !FOR_AUTHORS.test(name));
  const mine = { ...manifest, scripts: {}, devDependencies: Object.fromEntries(kept) };
  writeFileSync(file, `${JSON.stringify(mine, null, 2)}\n`);
}

function installed(path: string, manager: "pnpm" | undefined, more: readonly string[]): string | undefined {
  const quiet = ["--ignore-scripts", "--silent"];
  const steps =
    manager === "pnpm"
      ? [["npx", "--yes", "pnpm@9", "install", ...quiet]]
      : [
          [
            "npm",
            "install",
            "--package-lock-only",
            "--legacy-peer-deps",
            ...quiet,
            ...more.flatMap((one) => ["-D", one]),
          ],
          ["npm", "ci", "--legacy-peer-deps", ...quiet],
        ];
  for (const [program = "", ...args] of steps) {
    const { status, stderr } = spawnSync(program, args, { cwd: path, encoding: "utf8" });
    if (status !== 0) return `not installed: ${stderr.trim().split("\n").at(-1) ?? ""}`;
  }
  return undefined;
}

async function inSandbox(
  user: UserRepository,
  command: string,
  backend: "bubblewrap" | "namespaces",
): Promise<number | string> {
  using _only = new OnlyBackend(backend).here();
  await using plan = await ExecutingPlan.start({ user: borrowed(user) });
  const { ask, workspace } = await plan.open();
  await using _open = workspace;
  const outcome = await ask("shell_execute", { command });
  if (!outcome.ok) return outcome.error;
  const { code, output } = outcome.output as { code: number; output: string };
  if (code !== 0) console.log(output.split("\n").slice(-15).join("\n"));
  return code;
}

/** The same repository, which its plan does not take away. */
function borrowed(user: UserRepository): UserRepository {
  return Object.create(user, { [Symbol.asyncDispose]: { value: async () => undefined } }) as UserRepository;
}
