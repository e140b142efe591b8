/**
 * A tree-sitter runtime of its own: its module, its memory, its stack.
 *
 * The runtime is `web-tree-sitter` 0.27. The one that comes with the grammars is as fast (4.45 against 4.47 M
 * characters of TypeScript a second, side by side) but takes ever longer for long runs of errors: 100,000 characters of
 * `"a" ` more than 8 s instead of 0.4 s.
 *
 * By default, a runtime may take 2 GiB of memory, and has a stack of 64 KiB directly above its data: 3,000 times `;-`
 * ran over its end and overwrote the data there, function pointers too. So it gets a memory with a limit and a larger
 * stack that ends in a guard, which shows whether anything was written behind the end. All damage stays within the
 * runtime, which can be replaced.
 */
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type * as TreeSitter from "web-tree-sitter";

/** Memory in pages of 64 KiB: 32 MiB at first, 256 MiB at most. It never shrinks. */
const FIRST_PAGES = 512;
const MOST_PAGES = 4096;
const PAGE = 65_536;
/** As much as the thread's own stack, which takes about as much for each call and ends in an orderly way. */
const STACK_BYTES = 1_048_576;
const GUARD_BYTES = 65_536;
const GUARD_BYTE = 0xa5;
/** How much of the guard's upper end is checked: no call leaves that much untouched. */
const WATCHED_BYTES = 1_024;
/** How many UTF-16 units the parser's input buffer takes at a time. */
const CHUNK = 5119;
const UNTOUCHED = Buffer.alloc(WATCHED_BYTES, GUARD_BYTE);

/** The text to be parsed next. */
interface ParserInput {
  readonly text: string;
  /** Asked after every hundred steps of the parser: whether it should give up. */
  readonly isEnough: () => boolean;
}

export interface Runtime {
  readonly library: typeof TreeSitter;
  /**
   * The text that the library's `parse` reads, regardless of its argument: the library's own way of passing a text
   * takes several times as long.
   */
  input: ParserInput;
  /** As it is now: it is replaced by another buffer when more of it is taken. */
  memory(): ArrayBuffer;
  /** Whether so much memory was taken that a large text might not fit into the rest. */
  isHalfFull(): boolean;
  hasOverrunStack(): boolean;
}

interface WasmMemory {
  readonly buffer: ArrayBuffer;
}

/** The part of the global `WebAssembly` that is used here; Node's types do not describe it. */
interface WebAssemblyInterface {
  readonly Memory: new (pages: { readonly initial: number; readonly maximum: number }) => WasmMemory;
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object, imports: object) => object;
  readonly RuntimeError: new () => Error;
}

const webAssembly = webAssemblyOf(Reflect.get(globalThis, "WebAssembly"));

export async function createRuntime(): Promise<Runtime> {
  const library = freshLibrary();
  const bytes = await readFile(fileOf("web-tree-sitter/web-tree-sitter.wasm"));
  const wasmMemory = new webAssembly.Memory({ initial: FIRST_PAGES, maximum: MOST_PAGES });
  const runtime: Runtime = {
    library,
    input: { text: "", isEnough: () => true },
    memory: () => wasmMemory.buffer,
    isHalfFull: () => wasmMemory.buffer.byteLength > (MOST_PAGES * PAGE) / 2,
    hasOverrunStack: () => {
      const watched = Buffer.from(wasmMemory.buffer, guard + GUARD_BYTES - WATCHED_BYTES, WATCHED_BYTES);
      return !watched.equals(UNTOUCHED);
    },
  };
  let stackPointer: unknown;
  const module = {
    wasmMemory,
    instantiateWasm: (imports: object, receive: (instance: object, compiled: object) => void) => {
      const environment = Object(Reflect.get(imports, "env"));
      stackPointer = Reflect.get(environment, "__stack_pointer");
      replaceImport(environment, "tree_sitter_parse_callback", reader(wasmMemory, runtime));
      replaceImport(environment, "tree_sitter_progress_callback", () => runtime.input.isEnough());
      const compiled = new webAssembly.Module(bytes);
      receive(new webAssembly.Instance(compiled, imports), compiled);
    },
    // Errors are thrown; they need not be printed as well.
    printErr: () => undefined,
  };
  await library.Parser.init(module);
  const guard = moveStack(wasmMemory, functionOf(module, "_malloc"), stackPointer);
  return runtime;
}

/** Writes the part of the text that the parser asks for into its memory, and how long that is. */
function reader(memory: WasmMemory, runtime: Pick<Runtime, "input">) {
  let bytes = Buffer.from(memory.buffer);
  return (address: number, index: number, _row: number, _column: number, lengthAddress: number): void => {
    if (bytes.buffer !== memory.buffer) bytes = Buffer.from(memory.buffer);
    const part = runtime.input.text.slice(index, index + CHUNK);
    bytes.write(part, address, "utf16le");
    bytes.writeInt32LE(part.length, lengthAddress);
  };
}

function replaceImport(environment: object, name: string, own: unknown): void {
  if (!isFunction(Reflect.get(environment, name))) throw new Error(`the tree-sitter runtime does not ask for ${name}`);
  Reflect.set(environment, name, own);
}

/** Whether a runtime broke: out of memory, out of stack, or over what an overrun stack has left. */
export function isBreakdown(error: unknown): boolean {
  // The thread's own stack reports its end by a RangeError.
  return error instanceof webAssembly.RuntimeError || error instanceof RangeError;
}

/** Found through its package, so that it is the same file for the sources and for a bundle of them. */
export function fileOf(specifier: string): string {
  return createRequire(import.meta.url).resolve(specifier);
}

/**
 * The library keeps its runtime in a variable of its module, so a second runtime would replace the first one while
 * parsers still use it. Each runtime therefore has its own copy of the module, which goes when the runtime goes.
 */
function freshLibrary(): typeof TreeSitter {
  const require = createRequire(import.meta.url);
  const file = require.resolve("web-tree-sitter");
  Reflect.deleteProperty(require.cache, file);
  const library: unknown = require(file);
  Reflect.deleteProperty(require.cache, file);
  if (!isTreeSitter(library)) throw new Error("web-tree-sitter has no Parser and Language");
  return library;
}

function isTreeSitter(value: unknown): value is typeof TreeSitter {
  return typeof value === "object" && value !== null && "Parser" in value && "Language" in value;
}

/** Stacks grow downwards. Returns where the guard begins. */
function moveStack(memory: WasmMemory, malloc: (size: number) => number, stackPointer: unknown): number {
  if (!isGlobal(stackPointer)) throw new Error("the tree-sitter runtime has no stack pointer");
  const guard = malloc(GUARD_BYTES + STACK_BYTES);
  new Uint8Array(memory.buffer, guard, GUARD_BYTES).fill(GUARD_BYTE);
  stackPointer.value = (guard + GUARD_BYTES + STACK_BYTES) & ~15;
  return guard;
}

function isGlobal(value: unknown): value is { value: number } {
  return typeof value === "object" && value !== null && "value" in value && typeof value.value === "number";
}

/** The library passes its options on to its module, which puts its functions into them. */
function functionOf(module: object, name: string): (argument: number) => number {
  const found: unknown = Reflect.get(module, name);
  if (!isFunction(found)) throw new Error(`the tree-sitter runtime has no function ${name}`);
  return found;
}

function webAssemblyOf(value: unknown): WebAssemblyInterface {
  if (!isWebAssembly(value)) throw new Error("this Node.js has no WebAssembly");
  return value;
}

function isWebAssembly(value: unknown): value is WebAssemblyInterface {
  return typeof value === "object" && value !== null && "Memory" in value && "RuntimeError" in value;
}

function isFunction(value: unknown): value is (argument: number) => number {
  return typeof value === "function";
}
