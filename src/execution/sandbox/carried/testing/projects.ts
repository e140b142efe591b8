/**
 * Small projects of the kinds that people have, with their dependencies installed and ignored by git. The packages
 * `picocolors`, `yaml` and `vitest` are real, taken from this repository's own node_modules; everything else is made
 * here, because tests must not need a network.
 */
import { execFile } from "node:child_process";
import { cp, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { findProgram } from "../../../../platform/programs.ts";
import { fill, type FileSpec } from "../../../testing/trees.ts";

export interface SampleProject {
  readonly kind: string;
  /** Tracked by git. */
  readonly files: Readonly<Record<string, FileSpec>>;
  /** Done in the checkout, as the user would have. */
  readonly install: (checkout: string) => Promise<void>;
  readonly test: string;
  /** A program that it needs. */
  readonly needs: string;
  /** It only works where commands can write into its dependencies. */
  readonly writes?: boolean;
}

const OWN_PACKAGES = dirname(dirname(fileURLToPath(import.meta.resolve("picocolors/package.json"))));

async function copyPackages(checkout: string, names: readonly string[]): Promise<void> {
  for (const name of names)
    await cp(join(OWN_PACKAGES, name), join(checkout, "node_modules", name), { recursive: true });
}

const run = async (checkout: string, program: string, ...args: string[]): Promise<void> => {
  await promisify(execFile)(program, args, { cwd: checkout });
};

const NODE_TEST = (module: string, expected: string): string =>
  `const { test } = require("node:test");\nconst assert = require("node:assert");\ntest("x", () => assert.equal(${module}, ${expected}));\n`;

const CRATE = (name: string, dependencies: string): string =>
  `[package]\nname = "${name}"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\n${dependencies}`;

const NODE_PROJECTS: readonly SampleProject[] = [
  {
    kind: "npm with packages of a registry",
    needs: "npm",
    files: {
      ".gitignore": "node_modules/\n",
      "package.json": '{"scripts":{"test":"node --test"},"dependencies":{"yaml":"*","picocolors":"*"}}',
      "yaml.test.js": NODE_TEST('require("yaml").parse("a: 1").a + typeof require("picocolors").red', '"1function"'),
    },
    install: (checkout) => copyPackages(checkout, ["yaml", "picocolors"]),
    test: "npm test",
  },
  {
    kind: "pnpm, with a store and links into it",
    needs: "node",
    files: {
      ".gitignore": "node_modules\n",
      "packages/app/app.test.js": NODE_TEST('require("lib").colors', '"function"'),
      "packages/lib/index.js": 'exports.colors = typeof require("picocolors").red;\n',
      "packages/lib/package.json": '{"name":"lib","main":"index.js"}',
    },
    install: async (checkout) => {
      const store = "node_modules/.pnpm/picocolors@1.1.1/node_modules/picocolors";
      await cp(join(OWN_PACKAGES, "picocolors"), join(checkout, store), { recursive: true });
      await fill(checkout, {
        "packages/lib/node_modules/picocolors": { link: `../../../${store}` },
        "packages/app/node_modules/lib": { link: "../../lib" },
      });
    },
    test: "node --test packages/app/app.test.js",
  },
  {
    kind: "npm workspaces",
    needs: "npm",
    files: {
      ".gitignore": "node_modules\n",
      "package.json": '{"workspaces":["packages/*"],"scripts":{"test":"node --test"}}',
      "packages/lib/index.js": "module.exports = 42;\n",
      "packages/lib/package.json": '{"name":"lib","main":"index.js"}',
      "packages/app/app.test.js": NODE_TEST('require("lib")', "42"),
    },
    install: (checkout) => fill(checkout, { "node_modules/lib": { link: "../packages/lib" } }),
    test: "npm test",
  },
  {
    kind: "vitest, with node_modules shared by a link",
    needs: "node",
    files: {
      ".gitignore": "node_modules\n",
      "sum.test.ts": 'import { expect, test } from "vitest";\ntest("x", () => expect(1 + 1).toBe(2));\n',
      "package.json": '{"type":"module"}',
    },
    install: (checkout) => symlink(OWN_PACKAGES, join(checkout, "node_modules")),
    test: "node_modules/.bin/vitest run",
  },
  {
    kind: "a tool that keeps a cache in node_modules",
    needs: "node",
    writes: true,
    files: {
      ".gitignore": "node_modules\n",
      "test.js":
        'const fs = require("fs"); fs.mkdirSync("node_modules/.cache", { recursive: true }); fs.writeFileSync("node_modules/.cache/x", require("dep"));\n',
    },
    install: (checkout) => fill(checkout, { "node_modules/dep/index.js": 'module.exports = "x";\n' }),
    test: "node test.js",
  },
];

const OTHER_PROJECTS: readonly SampleProject[] = [
  {
    kind: "a virtual environment of Python with a console script",
    needs: "python3",
    files: {
      ".gitignore": ".venv/\n",
      "test_it.py": "import unittest, dep\nclass T(unittest.TestCase):\n  def test(self): self.assertEqual(dep.x, 1)\n",
    },
    install: async (checkout) => {
      await run(checkout, "python3", "-m", "venv", "--without-pip", ".venv");
      const script = `#!${checkout}/.venv/bin/python\nimport sys, unittest\nsys.path.insert(0, ".")\nunittest.main("test_it")\n`;
      await fill(checkout, { ".venv/bin/runner": { executable: script } });
      await run(checkout, "sh", "-c", "for d in .venv/lib/python3*/site-packages; do echo 'x = 1' > $d/dep.py; done");
    },
    test: ".venv/bin/runner && .venv/bin/python -m unittest",
  },
  {
    kind: "Python, installed for editing from src",
    needs: "python3",
    files: {
      ".gitignore": "venv/\n",
      "src/own/__init__.py": "x = 2\n",
      "tests/test_own.py":
        "import own, unittest\nclass T(unittest.TestCase):\n  def test(self): self.assertEqual(own.x, 2)\n",
    },
    install: async (checkout) => {
      await run(checkout, "python3", "-m", "venv", "--without-pip", "venv");
      await run(
        checkout,
        "sh",
        "-c",
        'for d in venv/lib/python3*/site-packages; do echo "$PWD/src" > "$d/own.pth"; done',
      );
    },
    test: "venv/bin/python -m unittest discover -s tests",
  },
  {
    kind: "Rust with a crate beside it, and a target directory",
    needs: "cargo",
    files: {
      ".gitignore": "target\n",
      "Cargo.toml": CRATE("app", 'lib = { path = "lib" }\n'),
      "src/lib.rs": "#[test] fn x() { assert_eq!(lib::x(), 3); }\n",
      "lib/Cargo.toml": CRATE("lib", ""),
      "lib/src/lib.rs": "pub fn x() -> i32 { 3 }\n",
      "Cargo.lock":
        'version = 3\n[[package]]\nname = "app"\nversion = "0.1.0"\ndependencies = ["lib"]\n[[package]]\nname = "lib"\nversion = "0.1.0"\n',
    },
    install: (checkout) => run(checkout, "cargo", "build", "--offline", "--quiet"),
    test: "cargo test --offline --quiet",
  },
  {
    kind: "Rust with vendored crates",
    needs: "cargo",
    files: {
      ".gitignore": "vendor/\ntarget\n",
      ".cargo/config.toml":
        '[source.crates-io]\nreplace-with = "vendored-sources"\n[source.vendored-sources]\ndirectory = "vendor"\n',
      "Cargo.toml": CRATE("app", 'dep = "1.0.0"\n'),
      "src/lib.rs": "#[test] fn x() { assert_eq!(dep::x(), 4); }\n",
    },
    install: async (checkout) => {
      await fill(checkout, {
        "vendor/dep/Cargo.toml": '[package]\nname = "dep"\nversion = "1.0.0"\nedition = "2021"\n',
        "vendor/dep/src/lib.rs": "pub fn x() -> i32 { 4 }\n",
        "vendor/dep/.cargo-checksum.json":
          '{"files":{},"package":"0000000000000000000000000000000000000000000000000000000000000000"}',
      });
    },
    test: "cargo test --offline --quiet",
  },
  {
    kind: "make, with a directory of builds",
    needs: "make",
    files: {
      ".gitignore": "build/\n",
      Makefile:
        "test: build/out\n\t@grep -q built build/out\n\t@grep -q generated build/given\n\nbuild/out: in\n\t@mkdir -p build\n\t@echo built > build/out\n",
      in: "x\n",
    },
    install: (checkout) => fill(checkout, { "build/given": "generated\n" }),
    test: "make test",
  },
];

/** Those whose program is here. The first three are of different kinds, for a quick look. */
export function sampleProjects(): SampleProject[] {
  const [npm, pnpm, ...node] = NODE_PROJECTS;
  const [venv, ...other] = OTHER_PROJECTS;
  const all = [npm, venv, pnpm, ...node, ...other].filter((one) => one !== undefined);
  return all.filter(({ needs }) => findProgram(needs) !== undefined);
}
