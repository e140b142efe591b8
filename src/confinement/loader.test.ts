/** The loader: its bytes are those of its source, and it makes the calls it is given. */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { listOfCalls, may, must, type KernelCall } from "./kernel-calls.ts";
import { closeLoader, hasLoader, loaderCode, openLoader } from "./loader.ts";

/** Few machines have it. */
const LLVM: string = process.env["LLVM_MC"] ?? "llvm-mc";
const ASSEMBLER = spawnSync(LLVM, ["--version"]).status === 0;

test.skipIf(!ASSEMBLER).each([
  ["x64", "x86_64-linux"],
  ["arm64", "aarch64-linux"],
])("the bytes for %s are made of the source beside them", (architecture, triple) => {
  const directory = mkdtempSync(join(tmpdir(), "cleveragents-loader-"));
  try {
    const source = fileURLToPath(new URL(`./loader-${architecture}.s`, import.meta.url));
    const object = join(directory, "object");
    execFileSync(LLVM, [`-triple=${triple}`, "-filetype=obj", source, "-o", object]);
    // An object file holds its code as it is; where, is said by none of the tools that every system has.
    expect(readFileSync(object).includes(loaderCode(architecture))).toBe(true);
  } finally {
    rmSync(directory, { recursive: true });
  }
});

describe.skipIf(!hasLoader())("where there is one for the processor, it", () => {
  test("makes one call after another, and ends with the first that must not fail", async () => {
    const write = (text: string): KernelCall => must("write", [1, text, text.length], "");
    const calls = [
      write("one "),
      may("close", [99]),
      write("two "),
      must("chdir", ["/not/there"], "no directory"),
      write("three"),
    ];
    expect(await made(calls)).toEqual({ code: 125, output: "one two cannot confine: no directory: error 002\n" });
  });

  test("waits as the parent for the child that continues, and ends as that did", async () => {
    const fork: KernelCall = { ...must("clone", [17, 0, 0, 0, 0], "no process"), rule: "fork" };
    const shell = (command: string): KernelCall =>
      must("execve", ["/bin/sh", ["/bin/sh", "-c", command], ["A=b c"]], "no shell");
    expect(await made([fork, shell('echo "$A"; exit 3')])).toEqual({ code: 3, output: "b c\n" });
    expect((await made([fork, shell("kill -TERM $$")])).code).toBe(128 + 15);
    // Processes that its child left behind are reaped on the way and decide nothing.
    expect((await made([fork, shell("(sleep 0.05; exit 9) & exit 4")])).code).toBe(4);
  });

  test("does not begin with half a list", async () => {
    const list = listOfCalls([must("write", [1, "begun", 5], ""), must("exit_group", [0], "")]);
    expect(await given(list.subarray(0, -8))).toEqual({ code: 125, output: "" });
    expect(await given(list.subarray(0, 0))).toEqual({ code: 125, output: "" });
  });
});

test("what holds a zero byte cannot be handed to the kernel", () => {
  expect(() => listOfCalls([must("chdir", ["a\0b"], "")])).toThrow(TypeError);
});

function made(calls: readonly KernelCall[]): Promise<{ code: number | null; output: string }> {
  return given(listOfCalls([...calls, must("exit_group", [0], "")]));
}

async function given(list: Buffer): Promise<{ code: number | null; output: string }> {
  const descriptor = openLoader(tmpdir());
  const child = spawn("/proc/self/fd/5", [], { stdio: ["ignore", "pipe", "pipe", "ignore", "pipe", descriptor] });
  closeLoader(descriptor);
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", (text: string) => (output += text));
  const input = child.stdio[4];
  if (input != null && "end" in input) input.end(list);
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, output }));
  });
}
