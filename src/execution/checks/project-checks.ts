/**
 * Finds the commands by which a project checks itself, from the files at its top: its tests, its linter, its type
 * checker. The search itself is pure: it is given the files, and nothing is run. Each command comes with the line that
 * says so, for people and models to see where it is from. Of several for one purpose, the project's own scripts come
 * first.
 */
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

const PURPOSES = ["test", "lint", "typecheck"] as const;
type CheckPurpose = (typeof PURPOSES)[number];

export interface ProjectCheck {
  readonly purpose: CheckPurpose;
  readonly command: string;
  /** The file that names it, and the line in it, from 1. */
  readonly file: string;
  readonly line: number;
}

/** Name to content; of files that are only looked for, the content does not matter. */
export type ProjectFiles = ReadonlyMap<string, string>;

const READ = [
  "package.json",
  "GNUmakefile",
  "makefile",
  "Makefile",
  "pyproject.toml",
  "pytest.ini",
  "setup.cfg",
  "tox.ini",
  "mypy.ini",
  "ruff.toml",
  "Cargo.toml",
  "go.mod",
  "pom.xml",
  "build.gradle",
  "build.gradle.kts",
] as const;
const LOOKED_FOR = [
  "pnpm-lock.yaml",
  "yarn.lock",
  "bun.lock",
  "bun.lockb",
  "tsconfig.json",
  "manage.py",
  "mvnw",
  "gradlew",
  ".venv/bin/python",
  "venv/bin/python",
] as const;

/** A larger one is not written by hand. */
const SIZE_LIMIT = 1024 * 1024;

export function projectFiles(root: string): ProjectFiles {
  const files = new Map<string, string>();
  for (const name of READ) {
    const found = statSync(join(root, name), { throwIfNoEntry: false });
    if (found?.isFile() === true && found.size <= SIZE_LIMIT) files.set(name, readFileSync(join(root, name), "utf8"));
  }
  for (const name of LOOKED_FOR) if (existsSync(join(root, name))) files.set(name, "");
  return files;
}

export function findProjectChecks(files: ProjectFiles): ProjectCheck[] {
  return [npm, make, python, rust, go, maven, gradle].flatMap((find) => find(files));
}

const SCRIPTS: Readonly<Record<CheckPurpose, readonly string[]>> = {
  test: ["test", "test:ci", "test:once", "test:unit", "tests"],
  lint: ["lint", "lint:check", "check:lint", "eslint"],
  typecheck: ["typecheck", "type-check", "check-types", "check:types", "types", "tsc"],
};

function npm(files: ProjectFiles): ProjectCheck[] {
  const file = "package.json";
  const text = files.get(file);
  const manifest = text === undefined ? undefined : parsed(text);
  if (text === undefined || manifest === undefined) return [];
  const runner = packageManager(files, manifest);
  const scripts = objectIn(manifest, "scripts");
  const found = PURPOSES.flatMap((purpose): ProjectCheck[] => {
    const name = SCRIPTS[purpose].find((one) => isUseful(scripts[one]));
    if (name === undefined) return [];
    const command = name === "test" ? runner.test : `${runner.run} ${name}`;
    const line = lineOf(text, new RegExp(`"${name}"\\s*:`), text.indexOf('"scripts"'));
    return [{ purpose, command, file, line }];
  });
  const typed = files.has("tsconfig.json") && "typescript" in objectIn(manifest, "devDependencies");
  if (!typed || found.some(({ purpose }) => purpose === "typecheck")) return found;
  return [...found, { purpose: "typecheck", command: "npx tsc --noEmit", file: "tsconfig.json", line: 1 }];
}

/** Not the one that `npm init` writes, and none that waits for changes: it would never end. */
function isUseful(script: unknown): boolean {
  return (
    typeof script === "string" &&
    script.trim() !== "" &&
    !/no test specified|--watch(?!=false|All=false)\b/.test(script)
  );
}

function packageManager(files: ProjectFiles, manifest: object): { readonly test: string; readonly run: string } {
  const said =
    "packageManager" in manifest && typeof manifest.packageManager === "string" ? manifest.packageManager : "";
  const named = /^(npm|pnpm|yarn|bun)@/.exec(said)?.[1];
  const locked =
    (files.has("pnpm-lock.yaml") && "pnpm") ||
    (files.has("yarn.lock") && "yarn") ||
    ((files.has("bun.lock") || files.has("bun.lockb")) && "bun") ||
    "npm";
  const manager = named ?? locked;
  // `bun test` runs its own tests, not the script.
  return manager === "bun"
    ? { test: "bun run test", run: "bun run" }
    : { test: `${manager} test`, run: `${manager} run` };
}

const TARGETS: Readonly<Record<CheckPurpose, readonly string[]>> = {
  test: ["test", "check", "tests"],
  lint: ["lint"],
  typecheck: ["typecheck", "type-check", "mypy"],
};

function make(files: ProjectFiles): ProjectCheck[] {
  // The order in which make looks for them.
  const file = ["GNUmakefile", "makefile", "Makefile"].find((name) => files.has(name));
  const text = file === undefined ? undefined : files.get(file);
  if (file === undefined || text === undefined) return [];
  return PURPOSES.flatMap((purpose): ProjectCheck[] => {
    for (const name of TARGETS[purpose]) {
      const line = lineOf(text, new RegExp(`^(?:[\\w-]+\\s+)*${name}(?:\\s+[\\w-]+)*\\s*::?(?!=)`, "m"));
      if (line > 0) return [{ purpose, command: `make ${name}`, file, line }];
    }
    return [];
  });
}

/** Where a tool has a section, the project uses it. */
const SECTIONS: readonly (readonly [file: string, section: RegExp, purpose: CheckPurpose, words: string])[] = [
  ["pyproject.toml", /^\[tool\.pytest\b.*\]/m, "test", "pytest"],
  ["pytest.ini", /^\[pytest\]/m, "test", "pytest"],
  ["setup.cfg", /^\[tool:pytest\]/m, "test", "pytest"],
  ["tox.ini", /^\[pytest\]/m, "test", "pytest"],
  ["pyproject.toml", /^\s*"?pytest\b/m, "test", "pytest"],
  ["pyproject.toml", /["']pytest\b/m, "test", "pytest"],
  ["pyproject.toml", /^\[tool\.ruff\b.*\]/m, "lint", "ruff check ."],
  ["ruff.toml", /^/, "lint", "ruff check ."],
  ["setup.cfg", /^\[flake8\]/m, "lint", "flake8"],
  ["tox.ini", /^\[flake8\]/m, "lint", "flake8"],
  ["pyproject.toml", /^\[tool\.mypy\]/m, "typecheck", "mypy ."],
  ["mypy.ini", /^\[mypy\]/m, "typecheck", "mypy ."],
  ["setup.cfg", /^\[mypy\]/m, "typecheck", "mypy ."],
  ["pyproject.toml", /^\[tool\.pyright\]/m, "typecheck", "pyright"],
];

function python(files: ProjectFiles): ProjectCheck[] {
  const environment = [".venv/bin/python", "venv/bin/python"].find((name) => files.has(name));
  const interpreter = environment ?? "python3";
  const found: ProjectCheck[] = [];
  const add = (check: ProjectCheck): void => {
    if (!found.some(({ purpose }) => purpose === check.purpose)) found.push(check);
  };
  if (files.has("manage.py"))
    add({ purpose: "test", command: `${interpreter} manage.py test`, file: "manage.py", line: 1 });
  for (const [file, section, purpose, words] of SECTIONS) {
    const line = lineOf(files.get(file) ?? "", section);
    if (line > 0 && files.has(file)) add({ purpose, command: `${interpreter} -m ${words}`, file, line });
  }
  const line = lineOf(files.get("tox.ini") ?? "", /^\[(?:tox|testenv)\b.*\]/m);
  if (line > 0) add({ purpose: "test", command: "tox", file: "tox.ini", line });
  return found;
}

function rust(files: ProjectFiles): ProjectCheck[] {
  const file = "Cargo.toml";
  const line = lineOf(files.get(file) ?? "", /^\[(?:package|workspace)\]/m);
  if (line === 0) return [];
  return [
    { purpose: "test", command: "cargo test", file, line },
    { purpose: "typecheck", command: "cargo check --all-targets", file, line },
  ];
}

function go(files: ProjectFiles): ProjectCheck[] {
  const file = "go.mod";
  const line = lineOf(files.get(file) ?? "", /^module\s/m);
  if (line === 0) return [];
  return [
    { purpose: "test", command: "go test ./...", file, line },
    { purpose: "lint", command: "go vet ./...", file, line },
  ];
}

function maven(files: ProjectFiles): ProjectCheck[] {
  const line = lineOf(files.get("pom.xml") ?? "", /<project\b/);
  if (line === 0) return [];
  return [{ purpose: "test", command: `${files.has("mvnw") ? "./mvnw" : "mvn"} -q test`, file: "pom.xml", line }];
}

function gradle(files: ProjectFiles): ProjectCheck[] {
  const file = ["build.gradle", "build.gradle.kts"].find((name) => files.has(name));
  if (file === undefined) return [];
  const line = Math.max(1, lineOf(files.get(file) ?? "", /^\s*plugins\b|^\s*apply plugin/m));
  return [{ purpose: "test", command: `${files.has("gradlew") ? "./gradlew" : "gradle"} test`, file, line }];
}

/** 0 when it is not there. */
function lineOf(text: string, pattern: RegExp, from = 0): number {
  const start = Math.max(0, from);
  const at = text.slice(start).search(pattern);
  return at === -1 ? 0 : text.slice(0, start + at).split("\n").length;
}

function parsed(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    // One that is broken names no command.
    return undefined;
  }
}

function objectIn(value: object, key: string): Readonly<Record<string, unknown>> {
  const found: unknown = Object.entries(value).find(([name]) => name === key)?.[1];
  return typeof found === "object" && found !== null ? Object.fromEntries(Object.entries(found)) : {};
}
