/**
 * The settings of git in a repository on which a landing depends: asked for once, and early, because the answers are
 * needed when there is something else to wait for anyway.
 */
import { git } from "./git.ts";
import { ownIdentity, type WantedFile } from "./git-objects.ts";

/** Who commits and when, as git writes it into a commit. */
export interface Identity {
  readonly author: string;
  readonly committer: string;
}

export class GitSettings {
  readonly #repository: string;
  readonly #values: Promise<ReadonlyMap<string, string>>;
  /** The attributes of the paths asked about so far: which of them are converted. */
  readonly #attributes = new Map<string, Promise<ReadonlySet<string>>>();

  constructor(repository: string) {
    this.#repository = repository;
    this.#values = readValues(repository);
    // A caller that awaits the values gets the failure.
    this.#values.catch(() => undefined);
  }

  /** Undefined where only git itself can tell who commits, or that it knows no name. */
  async identity(): Promise<Identity | undefined> {
    const values = await this.#values;
    const own = ownIdentity();
    const known = ["author", "committer"].every((role) =>
      ["name", "email"].every((what) => {
        const inEnvironment = own[`GIT_${role}_${what}`.toUpperCase()];
        return (inEnvironment ?? values.get(`${role}.${what}`) ?? values.get(`user.${what}`) ?? "").trim() !== "";
      }),
    );
    const [author, committer] = [values.get("GIT_AUTHOR_IDENT"), values.get("GIT_COMMITTER_IDENT")];
    return known && author !== undefined && committer !== undefined ? { author, committer } : undefined;
  }

  /** Whether git tracks the executable bit of files. */
  async tracksModes(): Promise<boolean> {
    return !isFalse((await this.#values).get("core.filemode") ?? "true");
  }

  /** Starts to ask about these paths, whose answers will be needed. */
  prepare(paths: readonly string[]): void {
    const fresh = paths.filter((path) => !this.#attributes.has(path));
    if (fresh.length === 0) return;
    const answer = convertedByAttributes(this.#repository, fresh);
    answer.catch(() => undefined);
    for (const path of fresh) this.#attributes.set(path, answer);
  }

  /** The paths whose files differ from their blobs, by the user's attributes and settings. */
  async converted(wanted: readonly WantedFile[]): Promise<ReadonlySet<string>> {
    const files = [...new Set(wanted.filter(({ file }) => file.mode !== "120000").map(({ path }) => path))];
    if (files.length === 0) return new Set();
    this.prepare(files);
    const values = await this.#values;
    const lineEnds = values.get("core.autocrlf") ?? "false";
    const everywhere = !isFalse(lineEnds) && lineEnds.toLowerCase() !== "input";
    if (everywhere || values.get("core.eol")?.toLowerCase() === "crlf") return new Set(files);
    const converted = new Set<string>();
    for (const path of files) if ((await this.#attributes.get(path))?.has(path) === true) converted.add(path);
    return converted;
  }
}

/** As git reads a boolean setting. One without a value is true. */
function isFalse(value: string): boolean {
  return ["false", "no", "off", "0", ""].includes(value.toLowerCase());
}

/** The last value of each setting, and the identities that git would commit with. */
async function readValues(repository: string): Promise<ReadonlyMap<string, string>> {
  // It also lists variables on which a landing does not depend, and fails after the rest if one of them is invalid.
  const { stdout } = await git(["var", "-l"], { cwd: repository, env: ownIdentity(), accept: [0, 128] });
  const values = new Map<string, string>();
  for (const line of stdout.toString("utf8").split("\n")) {
    const equals = line.indexOf("=");
    values.set(equals === -1 ? line : line.slice(0, equals), equals === -1 ? "true" : line.slice(equals + 1));
  }
  return values;
}

const CONVERTING = ["eol", "filter", "ident", "working-tree-encoding"];

async function convertedByAttributes(repository: string, paths: readonly string[]): Promise<ReadonlySet<string>> {
  const input = paths.map((path) => `${path}\0`).join("");
  const { stdout } = await git(["check-attr", "-z", "--stdin", ...CONVERTING], { cwd: repository, input });
  const fields = stdout.toString("utf8").split("\0");
  const converted = new Set<string>();
  for (let index = 0; index + 2 < fields.length; index += 3) {
    const [path = "", attribute, value] = fields.slice(index, index + 3);
    const plain = value === "unspecified" || value === "unset" || (attribute === "eol" && value === "lf");
    if (!plain) converted.add(path);
  }
  return converted;
}
