import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { registriesOf, registriesOfRepository, type Registry } from "./registry-hosts.ts";

const { HOME } = process.env;
let directory: string;
let home: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "cleveragents-registries-"));
  home = join(directory, "home");
  mkdirSync(join(home, "bin"), { recursive: true });
  answers("npm", "");
  process.env["HOME"] = home;
});

afterEach(() => {
  process.env["HOME"] = HOME;
  rmSync(directory, { recursive: true, force: true });
});

function write(place: string, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(place, path)), { recursive: true });
    writeFileSync(join(place, path), text);
  }
}

/** A package manager that answers so when it is asked in the home, and nothing elsewhere. */
function answers(program: string, text: string): void {
  const path = join(home, "bin", program);
  writeFileSync(path, `#!/bin/sh\n[ "$PWD" = "$HOME" ] && echo "${text}"\n`);
  chmodSync(path, 0o755);
}

async function reached(allowed: readonly string[] = [], environment: Record<string, string> = {}): Promise<string[]> {
  const variables = { PATH: `${join(home, "bin")}${delimiter}/usr/bin${delimiter}/bin`, HOME: home, ...environment };
  return names(await registriesOf(join(directory, "code"), allowed, variables));
}

function names(found: readonly Registry[]): string[] {
  return found.map(({ host, port }) => (port === undefined ? host : `${host}:${port}`)).toSorted();
}

const NPMRC = "registry=http://127.0.0.1:4873/\n@corp:registry = https://npm.corp.example/x/\n";

test.each([
  [{ "package.json": "{}" }, { ".npmrc": NPMRC }, ["127.0.0.1:4873", "npm.corp.example"]],
  [{ "package.json": "{}" }, { ".yarnrc.yml": 'npmRegistryServer: "https://yarn.example"\n' }, ["yarn.example"]],
  [
    { "pyproject.toml": "" },
    { ".config/pip/pip.conf": "[global]\nindex-url = https://pip.example/simple\n" },
    ["pip.example"],
  ],
  [
    { "Cargo.toml": "" },
    { ".cargo/config.toml": '[source.x]\nregistry = "sparse+https://cargo.example/index/"\n' },
    ["cargo.example"],
  ],
])("the user's configuration names registries; the same in a repository does not: %j", async (marks, files, hosts) => {
  const code = join(directory, "code");
  write(code, { ...marks, ...files });
  expect(await reached()).toEqual([]);
  expect(names(registriesOfRepository(code))).toEqual(hosts);
  write(home, files);
  expect(await reached()).toEqual(hosts);
});

test("variables and the setting count, and only managers that the project uses", async () => {
  const environment = { GOPROXY: "https://go.example,direct", npm_config_registry: "https://npm.example" };
  write(join(directory, "code"), { "go.mod": "" });
  expect(await reached([], environment)).toContain("go.example");
  expect(await reached([], environment)).not.toContain("npm.example");
  expect(await reached(["Packages.Example", "[::1]:4873"])).toEqual(
    expect.arrayContaining(["packages.example", "::1:4873"]),
  );
});

test("a package manager is asked in the home, where the repository cannot answer for it", async () => {
  write(join(directory, "code"), { "package.json": "{}" });
  answers("npm", "https://asked.example/");
  const variables = { PATH: `${join(home, "bin")}${delimiter}/bin`, HOME: home };
  expect(await registriesOf(join(directory, "code"), [], variables)).toEqual([
    { host: "asked.example", port: undefined, configured: false },
  ]);
});
