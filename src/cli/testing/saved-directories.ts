/**
 * Directories that are put back as they were, many times. To copy them each time took 0.2 s on a busy machine, of which
 * tests do hundreds; so each saved state has a copy of its own, which is moved into place, and in it only files that
 * changed are copied again.
 */
import { copyFileSync, cpSync, existsSync, lstatSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";

type Signatures = Map<string, string>;

export class SavedDirectories {
  readonly #root: string;
  readonly #names: readonly string[];
  readonly #shelf: string;
  readonly #saved = new Map<string, Signatures>();
  #current: string | undefined;

  /** `names`: the directories below the root, of which some may be missing. */
  constructor(root: string, names: readonly string[]) {
    this.#root = root;
    this.#names = names;
    this.#shelf = join(root, "shelf");
  }

  /** Keeps them as they are now. */
  save(state: string): void {
    const from = this.#root;
    for (const place of ["kept", "used"]) {
      const to = join(this.#shelf, state, place);
      mkdirSync(to, { recursive: true });
      for (const name of this.#there(from)) {
        cpSync(join(from, name), join(to, name), { recursive: true, verbatimSymlinks: true });
      }
    }
    this.#saved.set(state, this.#signatures(join(this.#shelf, state, "used")));
  }

  /** Puts them back as they were. */
  load(state: string): void {
    if (state !== this.#current) this.#change(state);
    const wanted = this.#saved.get(state);
    if (wanted === undefined) throw new Error(`nothing is saved as ${state}`);
    const kept = join(this.#shelf, state, "kept");
    const found = this.#signatures(this.#root);
    for (const path of found.keys()) {
      if (!wanted.has(path)) rmSync(join(this.#root, path), { recursive: true, force: true });
    }
    for (const [path, signature] of wanted) {
      if (found.get(path) === signature) continue;
      const file = join(this.#root, path);
      if (signature === "directory") mkdirSync(file, { recursive: true });
      else {
        mkdirSync(dirname(file), { recursive: true });
        copyFileSync(join(kept, path), file);
        wanted.set(path, signatureOf(file));
      }
    }
  }

  #change(state: string): void {
    for (const name of this.#there(this.#root)) {
      if (this.#current === undefined) rmSync(join(this.#root, name), { recursive: true });
      else renameSync(join(this.#root, name), join(this.#shelf, this.#current, "used", name));
    }
    const used = join(this.#shelf, state, "used");
    for (const name of this.#there(used)) renameSync(join(used, name), join(this.#root, name));
    this.#current = state;
  }

  #there(root: string): string[] {
    return this.#names.filter((name) => existsSync(join(root, name)));
  }

  /** Parents before what is in them. */
  #signatures(root: string): Signatures {
    const found: Signatures = new Map();
    const walk = (path: string): void => {
      const signature = signatureOf(join(root, path));
      found.set(path, signature);
      if (signature === "directory") for (const name of readdirSync(join(root, path))) walk(join(path, name));
    };
    for (const name of this.#there(root)) walk(name);
    return found;
  }
}

function signatureOf(file: string): string {
  const { size, mtimeMs, ino, mode } = lstatSync(file);
  return (mode & 0o170000) === 0o040000 ? "directory" : `${size} ${mtimeMs} ${ino} ${mode}`;
}
