import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ConfigurationError } from "../../domain/errors/errors.ts";
import { CONFIG_TEMPLATE, createConfig, readConfig, setConfigValue, takeConfigKeys } from "./config-file.ts";

let directory: string;
let file: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "cleveragents-config-"));
  file = join(directory, "nested", "config.yaml");
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const nothing = async (): Promise<void> => undefined;

test("a missing file is empty, and the first value makes it", async () => {
  expect(readConfig(file)).toEqual({ global: new Map(), projects: new Map() });
  await setConfigValue(file, { key: "core.user", value: "alice" }, nothing);
  expect(readConfig(file).global).toEqual(new Map([["core.user", "alice"]]));
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test("edits keep comments, order and other keys, and tell the value before", async () => {
  mkdirSync(join(directory, "nested"));
  writeFileSync(file, "# mine\ncore.user: bob # me\nother: 1\nflag: true\n");
  const seen: unknown[] = [];
  await setConfigValue(file, { key: "core.user", value: "carol" }, async (previous) => void seen.push(previous));
  await setConfigValue(
    file,
    { key: "a", value: "b", project: "Local/Shop" },
    async (previous) => void seen.push(previous),
  );
  expect(seen).toEqual(["bob", undefined]);
  expect(readFileSync(file, "utf8")).toBe(
    "# mine\ncore.user: carol # me\nother: 1\nflag: true\nprojects:\n  local/shop:\n    a: b\n",
  );
  const { global, projects } = readConfig(file);
  expect(Object.fromEntries(global)).toEqual({ "core.user": "carol", other: "1", flag: "true" });
  expect(projects.get("local/shop")).toEqual(new Map([["a", "b"]]));
});

test("values that are taken out leave the comments above them, and are handed over before they are gone", async () => {
  mkdirSync(join(directory, "nested"));
  const text =
    "# all of it\n# the first\na.key: 1\nb: 2 # two\n# above c\nc.key: 3\n# above d\nd: 4\n# last\ne.key: 5\n";
  writeFileSync(file, text);
  const isKey = (key: string): boolean => key.endsWith(".key");
  const failing = takeConfigKeys(file, isKey, async () => {
    throw new Error("no space");
  });
  await expect(failing).rejects.toThrow("no space");
  expect(readFileSync(file, "utf8")).toBe(text);
  const taken: unknown[] = [];
  await takeConfigKeys(file, isKey, async (values) => void taken.push(Object.fromEntries(values)));
  expect(taken).toEqual([{ "a.key": "1", "c.key": "3", "e.key": "5" }]);
  expect(readFileSync(file, "utf8")).toBe("# all of it\n# the first\nb: 2 # two\n# above c\n# above d\nd: 4\n# last\n");
  await takeConfigKeys(file, isKey, async (values) => void taken.push(values));
  expect(taken).toHaveLength(1);
});

test("50 concurrent edits of different keys all survive", async () => {
  await Promise.all(
    Array.from({ length: 50 }, (_, index) =>
      setConfigValue(file, { key: `key-${index}`, value: String(index) }, nothing),
    ),
  );
  expect(readConfig(file).global.size).toBe(50);
  expect(readdirSync(join(directory, "nested")).filter((name) => name.endsWith(".tmp"))).toEqual([]);
});

test("when what must come first fails, the file stays as it is", async () => {
  await setConfigValue(file, { key: "a", value: "1" }, nothing);
  const failing = setConfigValue(file, { key: "a", value: "2" }, async () => {
    throw new Error("the audit log is full");
  });
  await expect(failing).rejects.toThrow("the audit log is full");
  expect(readConfig(file).global.get("a")).toBe("1");
});

test("the template is written once and never over a file", () => {
  expect(createConfig(file)).toBe(true);
  expect(readFileSync(file, "utf8")).toBe(CONFIG_TEMPLATE);
  writeFileSync(file, "a: 1\n");
  expect(createConfig(file)).toBe(false);
  expect(readFileSync(file, "utf8")).toBe("a: 1\n");
});

test.each([
  ["a: [", "line"],
  ["- a\n", "key: value lines"],
  ["a: [1]\n", "single value"],
  ["a:\n", "single value"],
  ["projects: 1\n", "one section for each project"],
  ["projects:\n  p: 1\n", "key: value lines"],
])("%j is refused with the reason", (text, reason) => {
  mkdirSync(join(directory, "nested"));
  writeFileSync(file, text);
  expect(() => readConfig(file)).toThrow(ConfigurationError);
  expect(() => readConfig(file)).toThrow(reason);
  expect(readFileSync(file, "utf8")).toBe(text);
});

test("a path that cannot be read or written says so", async () => {
  mkdirSync(file, { recursive: true });
  expect(() => readConfig(file)).toThrow(ConfigurationError);
  chmodSync(directory, 0o700);
  await expect(setConfigValue(file, { key: "a", value: "1" }, nothing)).rejects.toThrow(ConfigurationError);
  writeFileSync(join(directory, "plain"), "");
  expect(() => createConfig(join(directory, "plain", "config.yaml"))).toThrow(ConfigurationError);
});
