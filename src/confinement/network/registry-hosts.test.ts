import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { registriesOf } from "./registry-hosts.ts";

function hostsOf(files: Record<string, string>, environment: Record<string, string> = {}): string[] {
  const directory = mkdtempSync(join(tmpdir(), "cleveragents-registries-"));
  try {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(directory, path)), { recursive: true });
      writeFileSync(join(directory, path), text);
    }
    const found = registriesOf(directory, environment).filter(({ configured }) => configured);
    return found.map(({ host, port }) => (port === undefined ? host : `${host}:${port}`)).toSorted();
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

test.each([
  [
    {
      "package.json": "{}",
      ".npmrc": "registry=http://127.0.0.1:4873/\n@corp:registry = https://npm.corp.example/x/\n",
    },
    ["127.0.0.1:4873", "npm.corp.example"],
  ],
  [{ "package.json": "{}", ".yarnrc.yml": 'npmRegistryServer: "https://yarn.example"\n' }, ["yarn.example"]],
  [{ "requirements.txt": "--index-url https://pip.example/simple\nflask\n" }, ["pip.example"]],
  [{ "pyproject.toml": '[[tool.uv.index]]\nurl = "https://uv.example/simple"\n' }, ["uv.example"]],
  [
    { "Cargo.toml": "", ".cargo/config.toml": '[source.x]\nregistry = "sparse+https://cargo.example/index/"\n' },
    ["cargo.example"],
  ],
  [{ Gemfile: 'source "https://gems.example"\n' }, ["gems.example"]],
  [{ "pom.xml": "<repository><url>https://maven.example/m2</url></repository>" }, ["maven.example"]],
])("the configuration of package managers names registries: %j", (files, hosts) => {
  expect(hostsOf(files)).toEqual(expect.arrayContaining(hosts));
});

test("variables count, and only managers that the project uses", () => {
  const environment = { GOPROXY: "https://go.example,direct", npm_config_registry: "https://npm.example" };
  expect(hostsOf({ "go.mod": "" }, environment)).toContain("go.example");
  expect(hostsOf({ "go.mod": "" }, environment)).not.toContain("npm.example");
  const directory = mkdtempSync(join(tmpdir(), "cleveragents-registries-"));
  try {
    expect(registriesOf(directory, {})).toEqual([]);
    writeFileSync(join(directory, "Cargo.toml"), "");
    expect(registriesOf(directory, {}).map(({ host }) => host)).toContain("index.crates.io");
    expect(registriesOf(directory, {}).map(({ host }) => host)).not.toContain("pypi.org");
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
