/**
 * Questions whose answers are known, made from code by a rule that has nothing to do with the index it is to judge: a
 * regular expression finds the exports of a file, another the files that import exactly that name from exactly there.
 * The defining file, its users and its tests belong together; a context for a question about the name should show all
 * of them.
 */
import { createHash } from "node:crypto";
import { posix } from "node:path";

export interface Source {
  readonly path: string;
  readonly text: string;
}

export interface Question {
  /** The form of the question: the name itself, the name's words, a file as the focus, or a person's words. */
  readonly kind: "name" | "words" | "focus" | "written";
  readonly query: string;
  readonly focus: readonly string[];
  /** Paths that a good answer shows. */
  readonly files: readonly string[];
}

const FEWEST_FILES = 3;
const MOST_FILES = 8;
const EXPORTED =
  /^export (?:declare )?(?:default )?(?:async )?(?:abstract )?(?:function\*?|class|const|interface|type|enum) (\w{6,})/gm;
const IMPORTED = /^import (?:type )?\{([^}]*)\} from ["'](\.[^"']+)["']/gm;
const PYTHON_DEFINED = /^(?:class|def) (\w{6,})/gm;
const PYTHON_IMPORTED = /^\s*from ([\w.]+) import \(?([\w ,\n]+)/gm;

/** Three questions about each of `count` names; the names are chosen by their hash, so that no person chose them. */
export function questionsAbout(sources: readonly Source[], count: number): readonly Question[] {
  return setsOf(sources)
    .toSorted((a, b) => compare(hash(a.name), hash(b.name)))
    .slice(0, count)
    .flatMap(({ name, definer, users }): readonly Question[] => {
      const files = [definer, ...users].toSorted(compare);
      const words = name
        .replaceAll(/([a-z\d])([A-Z])/g, "$1 $2")
        .replaceAll("_", " ")
        .toLowerCase();
      return [
        { kind: "name", query: `Change what ${name} does, and everything that depends on it.`, focus: [], files },
        { kind: "words", query: `How does the ${words} work, and where is it needed?`, focus: [], files },
        { kind: "focus", query: "", focus: [definer], files: users },
      ];
    });
}

interface AnswerSet {
  readonly name: string;
  readonly definer: string;
  readonly users: readonly string[];
}

function setsOf(sources: readonly Source[]): readonly AnswerSet[] {
  const definers = new Map<string, string[]>();
  const users = new Map<string, Set<string>>();
  const paths = new Set(sources.map(({ path }) => path));
  for (const { path, text } of sources) {
    for (const name of definedIn(path, text)) definers.set(name, [...(definers.get(name) ?? []), path]);
    for (const { name, from } of importedBy(path, text, paths)) {
      // An import alone may be a re-export or a leftover; a file that uses a name writes it once more.
      if (from === path || text.split(new RegExp(`\\b${name}\\b`)).length < 3) continue;
      const key = `${from} ${name}`;
      users.set(key, (users.get(key) ?? new Set()).add(path));
    }
  }
  return Array.from(definers, ([name, [definer = "", ...others]]): AnswerSet => {
    return { name, definer: others.length === 0 ? definer : "", users: [...(users.get(`${definer} ${name}`) ?? [])] };
  })
    .filter(({ definer, users: { length } }) => definer !== "" && length >= FEWEST_FILES - 1 && length < MOST_FILES)
    .map((set) => ({ ...set, users: set.users.toSorted(compare) }));
}

function definedIn(path: string, text: string): readonly string[] {
  const found = text.matchAll(path.endsWith(".py") ? PYTHON_DEFINED : EXPORTED);
  return Array.from(new Set(Array.from(found, ([, name = ""]) => name)));
}

function importedBy(
  path: string,
  text: string,
  paths: ReadonlySet<string>,
): readonly { readonly name: string; readonly from: string }[] {
  if (path.endsWith(".py")) {
    return Array.from(text.matchAll(PYTHON_IMPORTED), ([, module = "", names = ""]) => {
      const from = Array.from(paths).find((other) => other.endsWith(`/${module.replaceAll(".", "/")}.py`));
      return from === undefined ? [] : namesIn(names).map((name) => ({ name, from }));
    }).flat();
  }
  return Array.from(text.matchAll(IMPORTED), ([, names = "", specifier = ""]) => {
    const target = posix.join(posix.dirname(path), specifier);
    const from = [target, target.replace(/\.js$/, ".ts"), `${target}.ts`].find((other) => paths.has(other));
    return from === undefined ? [] : namesIn(names).map((name) => ({ name, from }));
  }).flat();
}

function namesIn(list: string): readonly string[] {
  return list
    .split(",")
    .map((item) => /^\s*(?:type )?(\w+)/.exec(item)?.[1] ?? "")
    .filter((name) => name !== "");
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
