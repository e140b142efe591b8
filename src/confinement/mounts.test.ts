/** The shown and hidden paths, before any backend mounts them. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { TOOL_DIRECTORIES } from "../domain/settings/sandbox-settings.ts";
import { setCommandPolicy } from "./command-policy.ts";
import { seatbeltProfile } from "./seatbelt.ts";
import { mountsOf, shownTools, type Mount, type FileView } from "./mounts.ts";

const VIEW: FileView = { readable: [], writable: [], hidden: [], cwd: "/", network: "none" };
const { HOME, PATH } = process.env;

let directory: string;

beforeEach(() => {
  directory = realpathSync(mkdtempSync(join(tmpdir(), "cleveragents-view-")));
  process.env["HOME"] = make("home");
  // Where the tools of this machine are is not the matter here.
  const naming = Object.keys(process.env).filter((name) =>
    /_(?:HOME|ROOT|DIR|PREFIX|PATH)$|^GOROOT$|^VIRTUAL_ENV$/.test(name),
  );
  for (const name of naming) vi.stubEnv(name, undefined);
});
afterEach(() => {
  vi.unstubAllEnvs();
  process.env["HOME"] = HOME;
  process.env["PATH"] = PATH;
  setCommandPolicy({ hidden: [], toolDirectories: TOOL_DIRECTORIES, unixSockets: false });
  rmSync(directory, { recursive: true });
});

function make(path: string): string {
  mkdirSync(join(directory, path), { recursive: true });
  return join(directory, path);
}

function at(mounts: readonly Mount[], path: string): string[] {
  return mounts.filter((mount) => mount.path === path).map(({ kind }) => kind);
}

test("the system is shown, and of the rest only what is given", () => {
  const mounts = mountsOf({ ...VIEW, readable: [make("objects")], writable: [make("tree")] });
  expect(at(mounts, "/usr")).toEqual(["read"]);
  expect(at(mounts, "/tmp")).toEqual(["scratch"]);
  expect(at(mounts, join(directory, "objects"))).toEqual(["read"]);
  expect(at(mounts, join(directory, "tree"))).toEqual(["write"]);
  for (const path of ["/", "/home", "/root", "/var", "/run/user", "/srv", "/mnt", directory])
    expect(at(mounts, path)).toEqual([]);
});

test("what is hidden stays hidden below what is shown, and what is given stays given below what is hidden", () => {
  const [data, tree] = [make("checkout/.data"), make("checkout/.data/sandboxes/tree")];
  setCommandPolicy({ hidden: [data] });
  const mounts = mountsOf({ ...VIEW, readable: [join(directory, "checkout")], writable: [tree] });
  const own = mounts.filter(({ path }) => path.startsWith(directory) && !path.includes("node_modules"));
  expect(own.map(({ kind, path }) => [kind, path.slice(directory.length)])).toEqual([
    ["read", "/checkout"],
    ["empty", "/checkout/.data"],
    ["write", "/checkout/.data/sandboxes/tree"],
  ]);
});

test("directories of tools are shown, but no key in them, and none that shows a home or what is ours", () => {
  const [home, data] = [join(directory, "home"), make("data")];
  for (const path of [
    "home/.cargo/bin",
    "home/own",
    "data/bin",
    "venv/bin",
    "project/bin",
    "project/node_modules/.bin",
  ])
    make(path);
  writeFileSync(join(home, "own/credentials"), "secret");
  writeFileSync(join(directory, "venv/pyvenv.cfg"), "");
  symlinkSync(home, join(directory, "to-home"));
  setCommandPolicy({ hidden: [data], toolDirectories: [".cargo/bin", "own", ".missing"] });
  const below = ["venv/bin", "project/bin", "project/node_modules/.bin", "data/bin", "home", "to-home", "", "missing"];
  process.env["PATH"] = ["relative/bin", ...below.map((path) => join(directory, path)), "/usr/bin", "/"].join(
    delimiter,
  );
  const node = process.execPath.slice(0, process.execPath.lastIndexOf("/"));
  expect(shownTools().filter((path) => path !== node && !node.startsWith(path))).toEqual(
    ["home/.cargo/bin", "home/own", "project/bin", "project/node_modules", "venv"].map((path) => join(directory, path)),
  );
  const mounts = mountsOf(VIEW);
  expect(at(mounts, join(home, "own/credentials"))).toEqual(["blank"]);
  for (const path of ["home", "to-home", "data", "data/bin", ""]) expect(at(mounts, join(directory, path))).toEqual([]);
});

test("what is reached through a link is shown by both of its names", () => {
  const tree = make("tree");
  symlinkSync(tree, join(directory, "link"));
  const mounts = mountsOf({ ...VIEW, writable: [join(directory, "link")] });
  expect(at(mounts, tree)).toEqual(["write"]);
  expect(at(mounts, join(directory, "link"))).toEqual(["write"]);
});

test("the rules for macOS say the same", () => {
  const [tree, data] = [make("tree"), make("data")];
  setCommandPolicy({ hidden: [data] });
  const profile = seatbeltProfile({
    ...VIEW,
    writable: [tree],
    readable: [make('a"b')],
  });
  expect(profile).toContain("(deny default)");
  expect(profile).toContain(`(allow file-read* file-write* (subpath "${tree}"))`);
  expect(profile).toContain(`(deny file-read* (subpath "${data}"))`);
  expect(profile).toContain('a\\"b"');
  expect(profile).not.toContain("(allow network*) ");
  expect(seatbeltProfile({ ...VIEW, network: "open" })).toContain("(allow network*) ");
});

test("a toolchain that a variable names is shown in any place", () => {
  const jdk = make("home/jdk");
  vi.stubEnv("JAVA_HOME", jdk);
  vi.stubEnv("GOROOT", join(directory, "home"));
  vi.stubEnv("NVM_DIR", "relative");
  expect(at(mountsOf(VIEW), jdk)).toEqual(["read"]);
  expect(at(mountsOf(VIEW), join(directory, "home"))).toEqual([]);
});

test("layers come last, with what is hidden in them; names of the checkout lead into the tree", () => {
  const [tree, packages, checkout] = [make("tree"), make("checkout/node_modules"), join(directory, "checkout")];
  make("checkout/.venv/bin");
  process.env["PATH"] = join(checkout, ".venv/bin");
  const layers = [
    { kind: "read", path: join(tree, "node_modules"), source: packages, blank: [".npmrc"] },
    { kind: "overlay", path: join(tree, ".venv"), lower: "/l", upper: "/u", work: "/w" },
  ] as const;
  const links = [{ path: join(checkout, ".venv"), to: join(tree, ".venv") }];
  const mounts = mountsOf({ ...VIEW, writable: [tree], layers, links });
  expect(mounts.slice(-3).map(({ kind, path }) => [kind, path.slice(directory.length)])).toEqual([
    ["read", "/tree/node_modules"],
    ["blank", "/tree/node_modules/.npmrc"],
    ["overlay", "/tree/.venv"],
  ]);
  expect(at(mounts, join(checkout, ".venv"))).toEqual(["link"]);
  expect(at(mounts, join(checkout, ".venv/bin"))).toEqual([]);
});
