/**
 * Finds the backend that can lay a writable layer over a directory of the user's. Bubblewrap can since 0.11, the
 * kernel's namespaces since Linux 5.11; both only where the file system of the sandboxes can hold such a layer. So it
 * is tried there, once, with a real command.
 */
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { removeTree } from "../platform/remove-tree.ts";
import type { ConfinementBackend } from "./backend.ts";
import { attempted, findConfinement } from "./confinement.ts";

/** By PATH, which tests change, and by file system. */
const known = new Map<string, Promise<ConfinementBackend | undefined>>();

/** `directory`: where the layers will be. */
export function layeringBackend(directory: string): Promise<ConfinementBackend | undefined> {
  const key = `${statSync(directory).dev}\n${process.env["PATH"]}`;
  const found = known.get(key) ?? find(directory);
  known.set(key, found);
  return found;
}

async function find(directory: string): Promise<ConfinementBackend | undefined> {
  const found = await findConfinement();
  if (found.kind === "none") return undefined;
  for (const backend of [found.backend, ...found.others]) if (await canLayer(backend, directory)) return backend;
  return undefined;
}

const COMMAND = 'echo new > "$1/new" && echo changed > "$1/old"';

async function canLayer(backend: ConfinementBackend, directory: string): Promise<boolean> {
  if (backend.kind === "seatbelt") return false;
  const place = await mkdtemp(join(directory, "layering-"));
  try {
    const [lower, upper, work] = [join(place, "lower"), join(place, "upper"), join(place, "work")];
    const tree = join(place, "tree");
    const path = join(tree, "at");
    for (const made of [lower, upper, work, path]) mkdirSync(made, { recursive: true });
    writeFileSync(join(lower, "old"), "old");
    const program = { command: ["/bin/sh", "-c", COMMAND, "sh", path], environment: {}, recorded: false };
    const layer = { kind: "overlay", path, lower, upper, work } as const;
    const view = {
      readable: [],
      writable: [tree],
      hidden: [place],
      cwd: "/",
      network: "none" as const,
      layers: [layer],
    };
    const { code } = await attempted(backend.start(program, view));
    return code === 0 && existsSync(join(upper, "new")) && readFileSync(join(lower, "old"), "utf8") === "old";
  } finally {
    await removeTree(place);
  }
}
