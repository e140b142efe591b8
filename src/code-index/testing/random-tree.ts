/** Does to a checkout what people and tools do to one, as a seed decides. */
import { chmodSync, existsSync, mkdirSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { git, makeRepository } from "../../testing/git-repository.ts";

const NAMES = ["store", "lease", "plan", "ledger", "index", "token", "session", "parse"];
const KINDS: readonly ((name: string, other: string, n: number) => [extension: string, text: string])[] = [
  (name, other, n) => ["ts", `import { ${other} } from "./${other}.ts";\nexport const ${name} = ${other} + ${n};\n`],
  (name, other, n) => ["ts", `export class ${name} {\n  ${other}(): number {\n    return ${n};\n  }\n}\n`],
  (name, other, n) => ["md", `# ${name} ${n}\n\nSee [it](./${other}.md).\n`],
  (name, other, n) => ["txt", `${name} ${other} ${n}\n`],
  (_name, _other, n) => ["bin", `\0${n}`],
];

export class RandomTree {
  readonly #root: string;
  readonly #random: () => number;
  readonly #files = new Set<string>();
  #edits = 0;

  constructor(root: string, random: () => number) {
    this.#root = root;
    this.#random = random;
    makeRepository(root, "side");
    writeFileSync(join(root, ".gitignore"), "ignored/\n");
  }

  change(): void {
    this.#edits += 1;
    const path = this.#one([...this.#files]);
    const roll = this.#random();
    if (path === undefined || roll < 0.3) this.#write(this.#newPath());
    else if (roll < 0.5) this.#write(path);
    else if (roll < 0.6) this.#move(path);
    else if (roll < 0.7) this.#remove(path);
    else if (roll < 0.8) this.#edit(path, (file) => chmodSync(file, this.#random() < 0.5 ? 0o755 : 0o644));
    else if (roll < 0.87) this.#edit(path, (file) => utimesSync(file, 1_700_000_000, 1_700_000_000 + this.#edits));
    else if (roll < 0.94) this.#commit();
    else this.#switch();
  }

  #write(path: string): void {
    const [one = "", two = ""] = [this.#one(NAMES), this.#one(NAMES)];
    // Few different numbers, so that a text comes back now and then.
    const made = this.#one(KINDS)?.(one, two, Math.floor(this.#random() * 4)) ?? ["txt", ""];
    const file = path.endsWith(".any") ? path.replace(/any$/, made[0]) : path;
    try {
      mkdirSync(dirname(join(this.#root, file)), { recursive: true });
      writeFileSync(join(this.#root, file), made[1]);
      this.#files.add(file);
    } catch {
      // A file in the place of a directory, or the reverse: it stays as it is.
    }
  }

  #newPath(): string {
    const directory = this.#one(["", "src/", "src/deep/", "docs/", "ignored/"]) ?? "";
    return `${directory}${this.#one(NAMES) ?? ""}.any`;
  }

  #move(path: string): void {
    const to = `${this.#one(["", "src/", "moved/"]) ?? ""}${path.slice(path.lastIndexOf("/") + 1)}`;
    this.#edit(path, (file) => {
      mkdirSync(dirname(join(this.#root, to)), { recursive: true });
      renameSync(file, join(this.#root, to));
      this.#files.delete(path);
      this.#files.add(to);
    });
  }

  #remove(path: string): void {
    this.#edit(path, (file) => rmSync(file));
    this.#files.delete(path);
  }

  #commit(): void {
    git(this.#root, "add", "--all");
    git(this.#root, "commit", "--quiet", "--allow-empty", `--message=${this.#edits}`);
  }

  #switch(): void {
    this.#commit();
    git(this.#root, "switch", "--quiet", this.#one(["main", "side"]) ?? "main");
  }

  #edit(path: string, edit: (file: string) => void): void {
    const file = join(this.#root, path);
    if (existsSync(file)) edit(file);
    else this.#files.delete(path);
  }

  #one<T>(choices: readonly T[]): T | undefined {
    return choices[Math.floor(this.#random() * choices.length)];
  }
}
