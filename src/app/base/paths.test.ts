import { expect, test } from "vitest";
import { resolvePaths as resolveFrom, type PathOptions, type Paths } from "./paths.ts";

function resolvePaths(options: PathOptions, environment: Record<string, string>): Paths {
  return resolveFrom(options, environment, "/from/here");
}

test("XDG directories by default", () => {
  expect(resolvePaths({}, { HOME: "/home/a" })).toEqual({
    dataDir: "/home/a/.local/share/cleveragents",
    database: "/home/a/.local/share/cleveragents/cleveragents.db",
    sandboxes: "/home/a/.local/share/cleveragents/sandboxes",
    config: "/home/a/.config/cleveragents/config.yaml",
  });
  expect(resolvePaths({}, { HOME: "/home/a", XDG_DATA_HOME: "/d", XDG_CONFIG_HOME: "/c" })).toMatchObject({
    dataDir: "/d/cleveragents",
    config: "/c/cleveragents/config.yaml",
  });
});

test("a named data directory holds everything, and a named configuration file wins", () => {
  expect(resolvePaths({}, { CLEVERAGENTS_DATA_DIR: "/x" })).toMatchObject({ dataDir: "/x", config: "/x/config.yaml" });
  expect(resolvePaths({ dataDir: "/y" }, { CLEVERAGENTS_DATA_DIR: "/x" })).toMatchObject({ dataDir: "/y" });
  expect(resolvePaths({ dataDir: "/y" }, { CLEVERAGENTS_CONFIG_PATH: "/z.yaml" }).config).toBe("/z.yaml");
  expect(resolvePaths({ dataDir: "/y", configPath: "/w.yaml" }, { CLEVERAGENTS_CONFIG_PATH: "/z.yaml" }).config).toBe(
    "/w.yaml",
  );
});

test("relative paths are meant from the working directory that is given", () => {
  expect(resolvePaths({ dataDir: "y" }, {})).toMatchObject({
    dataDir: "/from/here/y",
    config: "/from/here/y/config.yaml",
  });
  expect(resolvePaths({ dataDir: "y", configPath: "../c.yaml" }, {}).config).toBe("/from/c.yaml");
  expect(resolvePaths({}, { CLEVERAGENTS_DATA_DIR: "x", CLEVERAGENTS_CONFIG_PATH: "z" })).toMatchObject({
    dataDir: "/from/here/x",
    config: "/from/here/z",
  });
});
