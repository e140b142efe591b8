/** Where the caches of package managers are found. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { carryRulesOf } from "../domain/settings/sandbox-settings.ts";
import { setCommandPolicy } from "./command-policy.ts";
import { packageCaches } from "./package-caches.ts";

const { HOME } = process.env;
let directory: string;

beforeEach(() => {
  directory = realpathSync(mkdtempSync(join(tmpdir(), "cleveragents-caches-")));
  process.env["HOME"] = make("home");
});
afterEach(() => {
  process.env["HOME"] = HOME;
  setCommandPolicy({ hidden: [], carry: carryRulesOf(undefined) });
  rmSync(directory, { recursive: true });
});

function make(path: string): string {
  mkdirSync(join(directory, path), { recursive: true });
  return join(directory, path);
}

test("those that exist, at their usual places, or where a variable says", () => {
  const maven = make("home/.m2/repository");
  make("home/.cargo/registry");
  const cargo = make("elsewhere/cargo/registry");
  const modules = make("gopath/pkg/mod");
  expect(
    packageCaches({
      CARGO_HOME: join(directory, "elsewhere/cargo"),
      GOPATH: join(directory, "gopath"),
      PIP_CACHE_DIR: "",
    }),
  ).toEqual([
    { at: ".cargo/registry", source: cargo },
    { at: "go/pkg/mod", source: modules },
    { at: ".m2/repository", source: maven },
  ]);
});

test("none that a variable puts around the home or our own files, and none where nothing comes along", () => {
  const data = make("cache/data");
  setCommandPolicy({ hidden: [data] });
  expect(packageCaches({ PIP_CACHE_DIR: join(directory, "cache"), UV_CACHE_DIR: join(directory, "home") })).toEqual([]);
  make("home/.npm/_cacache");
  setCommandPolicy({ carry: carryRulesOf("none") });
  expect(packageCaches({})).toEqual([]);
});
