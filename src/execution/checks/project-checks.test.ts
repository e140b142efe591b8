/** The commands by which a project checks itself, found in its files. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { fill } from "../testing/trees.ts";
import { findProjectChecks, projectFiles } from "./project-checks.ts";

type Files = Readonly<Record<string, string>>;

function found(files: Files): string[] {
  return findProjectChecks(new Map(Object.entries(files))).map(
    ({ purpose, command, file, line }) => `${purpose}: ${command} (${file}:${line})`,
  );
}

function manifest(scripts: Files, more: object = {}): string {
  return JSON.stringify({ name: "x", scripts, ...more }, null, 2);
}

test.each<[string, Files, string[]]>([
  ["an npm script", { "package.json": manifest({ test: "node --test" }) }, ["test: npm test (package.json:4)"]],
  [
    "scripts for everything",
    { "package.json": manifest({ build: "x", test: "jest", lint: "eslint .", typecheck: "tsc" }) },
    [
      "test: npm test (package.json:5)",
      "lint: npm run lint (package.json:6)",
      "typecheck: npm run typecheck (package.json:7)",
    ],
  ],
  [
    "the test that npm init writes",
    { "package.json": manifest({ test: 'echo "Error: no test specified" && exit 1' }) },
    [],
  ],
  ["no scripts", { "package.json": '{"name":"test","main":"test"}' }, []],
  ["scripts of the wrong kind", { "package.json": '{"scripts":{"test":1,"lint":null}}' }, []],
  ["a manifest that is not JSON", { "package.json": "{ nope" }, []],
  ["a list instead of a manifest", { "package.json": "[]" }, []],
  [
    "a test that watches, beside one that ends",
    { "package.json": manifest({ test: "vitest --watch", "test:ci": "vitest run" }) },
    ["test: npm run test:ci (package.json:5)"],
  ],
  [
    "watching switched off",
    { "package.json": manifest({ test: "jest --watchAll=false" }) },
    ["test: npm test (package.json:4)"],
  ],
  ["only a test that watches", { "package.json": manifest({ test: "jest --watch" }) }, []],
  [
    "pnpm, by its lockfile",
    { "package.json": manifest({ test: "x", lint: "y" }), "pnpm-lock.yaml": "" },
    ["test: pnpm test (package.json:4)", "lint: pnpm run lint (package.json:5)"],
  ],
  [
    "yarn, by its lockfile",
    { "package.json": manifest({ test: "x" }), "yarn.lock": "" },
    ["test: yarn test (package.json:4)"],
  ],
  [
    "bun runs the script, not its own tests",
    { "package.json": manifest({ test: "x" }), "bun.lockb": "" },
    ["test: bun run test (package.json:4)"],
  ],
  [
    "the manifest names the manager before any lockfile does",
    { "package.json": manifest({ test: "x" }, { packageManager: "pnpm@9.0.0" }), "yarn.lock": "" },
    ["test: pnpm test (package.json:4)"],
  ],
  [
    "TypeScript without a script for it",
    { "package.json": manifest({ test: "x" }, { devDependencies: { typescript: "5" } }), "tsconfig.json": "" },
    ["test: npm test (package.json:4)", "typecheck: npx tsc --noEmit (tsconfig.json:1)"],
  ],
  [
    "a key called test outside of the scripts",
    { "package.json": '{\n"jest": { "test": 1 },\n"scripts": {\n"test": "jest"}}' },
    ["test: npm test (package.json:4)"],
  ],
  ["a target", { Makefile: "all: x\n\ntest: all\n\tgo\n" }, ["test: make test (Makefile:3)"]],
  [
    "the target check where there is no test",
    { Makefile: "check:\n\tx\nlint::\n\ty\n" },
    ["test: make check (Makefile:1)", "lint: make lint (Makefile:3)"],
  ],
  ["several targets of one rule", { Makefile: "build test: x\n" }, ["test: make test (Makefile:1)"]],
  ["a variable called test, and a target that begins so", { Makefile: "test := 1\ntest-all: x\ncheck=2\n" }, []],
  [
    "the makefile that make takes",
    { Makefile: "test:\n", GNUmakefile: "check:\n" },
    ["test: make check (GNUmakefile:1)"],
  ],
  [
    "pytest in pyproject.toml",
    { "pyproject.toml": '[project]\nname = "x"\n\n[tool.pytest.ini_options]\n' },
    ["test: python3 -m pytest (pyproject.toml:4)"],
  ],
  ["pytest.ini", { "pytest.ini": "[pytest]\n" }, ["test: python3 -m pytest (pytest.ini:1)"]],
  [
    "setup.cfg",
    { "setup.cfg": "[metadata]\n[tool:pytest]\n[flake8]\n[mypy]\n" },
    [
      "test: python3 -m pytest (setup.cfg:2)",
      "lint: python3 -m flake8 (setup.cfg:3)",
      "typecheck: python3 -m mypy . (setup.cfg:4)",
    ],
  ],
  [
    "pytest among the dependencies",
    { "pyproject.toml": '[dependency-groups]\ndev = ["pytest>=8"]\n' },
    ["test: python3 -m pytest (pyproject.toml:2)"],
  ],
  [
    "pytest of poetry",
    { "pyproject.toml": '[tool.poetry.group.dev.dependencies]\npytest = "^8"\n' },
    ["test: python3 -m pytest (pyproject.toml:2)"],
  ],
  [
    "the project's own environment",
    { "pytest.ini": "[pytest]\n", ".venv/bin/python": "" },
    ["test: .venv/bin/python -m pytest (pytest.ini:1)"],
  ],
  ["tox, where pytest is not named", { "tox.ini": "[tox]\nenvlist = py\n" }, ["test: tox (tox.ini:1)"]],
  [
    "pytest in tox.ini, without building environments",
    { "tox.ini": "[tox]\n[pytest]\n" },
    ["test: python3 -m pytest (tox.ini:2)"],
  ],
  [
    "Django",
    { "manage.py": "", "pyproject.toml": "[tool.pytest.ini_options]\n" },
    ["test: python3 manage.py test (manage.py:1)"],
  ],
  [
    "linters and type checkers of Python",
    { "pyproject.toml": "[tool.ruff]\n[tool.ruff.lint]\n[tool.mypy]\n" },
    ["lint: python3 -m ruff check . (pyproject.toml:1)", "typecheck: python3 -m mypy . (pyproject.toml:3)"],
  ],
  ["a pyproject without tests", { "pyproject.toml": '[project]\nname = "x"\n' }, []],
  [
    "a crate",
    { "Cargo.toml": '# x\n[package]\nname = "x"\n' },
    ["test: cargo test (Cargo.toml:2)", "typecheck: cargo check --all-targets (Cargo.toml:2)"],
  ],
  [
    "a workspace of crates",
    { "Cargo.toml": "[workspace]\n" },
    ["test: cargo test (Cargo.toml:1)", "typecheck: cargo check --all-targets (Cargo.toml:1)"],
  ],
  [
    "a module of Go",
    { "go.mod": "// x\nmodule example.org/x\n" },
    ["test: go test ./... (go.mod:2)", "lint: go vet ./... (go.mod:2)"],
  ],
  ["Maven", { "pom.xml": "<?xml?>\n<project>\n" }, ["test: mvn -q test (pom.xml:2)"]],
  ["Maven with its wrapper", { "pom.xml": "<project>\n", mvnw: "" }, ["test: ./mvnw -q test (pom.xml:1)"]],
  ["Gradle", { "build.gradle": "// x\nplugins {\n}\n", gradlew: "" }, ["test: ./gradlew test (build.gradle:2)"]],
  ["Gradle in Kotlin", { "build.gradle.kts": "val x = 1\n" }, ["test: gradle test (build.gradle.kts:1)"]],
  ["nothing", {}, []],
])("%s", (_name, files, checks) => {
  expect(found(files)).toEqual(checks);
});

test("the project's own script comes before the tool that it may call", () => {
  const files = new Map([
    ["Makefile", "test:\n\tcargo test --all\n"],
    ["Cargo.toml", "[workspace]\n"],
  ]);
  const checks = findProjectChecks(files);
  expect(checks.find(({ purpose }) => purpose === "test")?.command).toBe("make test");
  expect(checks.find(({ purpose }) => purpose === "lint")).toBeUndefined();
});

test("the files of a directory are read, and a directory of that name is not", async () => {
  const root = mkdtempSync(join(tmpdir(), "cleveragents-checks-"));
  try {
    await fill(root, {
      "package.json": manifest({ test: "x" }),
      "yarn.lock": "long",
      "Makefile/x": "test:\n",
      ".venv/bin/python": "",
    });
    expect([...projectFiles(root).entries()]).toEqual([
      ["package.json", manifest({ test: "x" })],
      ["yarn.lock", ""],
      [".venv/bin/python", ""],
    ]);
  } finally {
    rmSync(root, { recursive: true });
  }
});
