/**
 * The subject of a request, read from its words: identifiers in the ways people write them (`parseLease`, parse_lease,
 * Lease.renew, lease::renew, renew()), names of files, and the plain words that are left. It reads text only and knows
 * no index; the strategies find out whether a name exists.
 */
import type { ContextQuestion } from "../../domain/context/context-question.ts";
import { isStopWord } from "./stop-words.ts";

export interface QueryTerms {
  /**
   * Names as they are written in code, the parts of dotted ones after the whole: "Lease.renew" gives "Lease" and
   * "renew".
   */
  readonly identifiers: readonly string[];
  /** Of dotted ones, each name with the one before it: "Lease.renew" is the member "renew" of "Lease". */
  readonly members: readonly { readonly owner: string; readonly name: string }[];
  /** Files, whole paths or ends of them: "src/lease.ts", "lease.ts". */
  readonly paths: readonly string[];
  /** In small letters, identifiers split at their humps, stop words dropped, each once, in the order of the text. */
  readonly words: readonly string[];
}

/** A query is written by a person or a model; a longer one is a pasted text, whose beginning says enough. */
const LONGEST_QUERY = 20_000;
const LONGEST_ENTITY = 1_000;
const MOST_TERMS = 64;

const FILE_NAME =
  /^[\w@.+-]*\w\.(?:[cm]?[jt]sx?|json|ya?ml|toml|md|mdx|py|pyi|go|rs|java|kt|c|cc|cpp|cxx|h|hh|hpp|sql|sh|css|scss|html|vue|svelte|txt|proto|rb|php|cs)$/i;

/** Endings of files that are also names of members. */
const MEMBER = /^([A-Za-z_$][\w$]*)\.(json|html|css|sql|proto|go|sh)$/;

export function termsOf(request: Pick<ContextQuestion, "query" | "entities">): QueryTerms {
  const identifiers = new Set<string>();
  const paths = new Set<string>();
  const words = new Set<string>();
  const members = new Map<string, { readonly owner: string; readonly name: string }>();
  const take = (token: string, isName: boolean): void => {
    if (isPath(token)) {
      // `res.json` may be a file, and may be a member; the index knows which of them exists.
      const [, owner, name] = MEMBER.exec(token) ?? [];
      if (owner !== undefined && name !== undefined) {
        members.set(token, { owner, name });
        for (const word of wordsIn(token)) words.add(word);
      }
      paths.add(token.replace(/^\.\//, ""));
      for (const word of wordsIn(token.replace(/\.\w+$/, ""))) words.add(word);
      return;
    }
    if (isName || looksLikeCode(token)) {
      const names = namesIn(token);
      for (const [at, name] of names.entries()) {
        identifiers.add(name);
        const owner = names[at - 1];
        if (owner !== undefined) members.set(`${owner}.${name}`, { owner, name });
      }
    }
    for (const word of wordsIn(token)) words.add(word);
  };
  for (const entity of request.entities.slice(0, MOST_TERMS)) {
    for (const token of tokensIn(entity.slice(0, LONGEST_ENTITY))) take(token, true);
  }
  const query = request.query.slice(0, LONGEST_QUERY);
  for (const { token, quoted } of tokensOfQuery(query)) take(token, quoted);
  return {
    identifiers: first(identifiers),
    members: first(members.values()),
    paths: first(paths),
    words: first(words),
  };
}

/** A name in pieces: `parseHTTPLease2` is parse, http, lease2; stop words and single letters are left out. */
export function wordsIn(text: string): readonly string[] {
  const { hump, capitals, between } = lettersOf(text);
  return text
    .replaceAll(hump, "$1 $2")
    .replaceAll(capitals, "$1 $2")
    .toLowerCase()
    .split(between)
    .filter((word) => word.length > 1 && !isStopWord(word));
}

interface Letters {
  readonly hump: RegExp;
  readonly capitals: RegExp;
  readonly between: RegExp;
  readonly token: RegExp;
}

/** The letters of all languages take 10 ms to prepare, again in every thread; mostly those of ASCII are enough. */
const ASCII_LETTERS: Letters = {
  hump: /([a-z\d])([A-Z])/g,
  capitals: /([A-Z]+)([A-Z][a-z])/g,
  between: /[^A-Za-z\d]+/,
  token: /[\w$@./\\:#+-]+(?:\(\))?/g,
};
const ALL_LETTERS: Letters = {
  hump: /([\p{Ll}\p{N}])(\p{Lu})/gu,
  capitals: /(\p{Lu}+)(\p{Lu}\p{Ll})/gu,
  between: /[^\p{L}\p{N}]+/u,
  token: /[\p{L}\p{N}_$@./\\:#+-]+(?:\(\))?/gu,
};

function lettersOf(text: string): Letters {
  // oxlint-disable-next-line no-control-regex -- exactly the characters of ASCII
  return /^[\u0000-\u007f]*$/.test(text) ? ASCII_LETTERS : ALL_LETTERS;
}

/** Words in quotation marks or backticks are names when they are one word each. */
function* tokensOfQuery(query: string): Generator<{ readonly token: string; readonly quoted: boolean }> {
  for (const [whole, ticked, double] of query.matchAll(/`([^`\n]{1,200})`|"([^"\n]{1,200})"|[^`"]+|[`"]/g)) {
    const quote = ticked ?? double;
    for (const token of tokensIn(quote ?? whole)) yield { token, quoted: quote !== undefined && !/\s/.test(quote) };
  }
}

function tokensIn(text: string): readonly string[] {
  const { token: pattern, between } = lettersOf(text);
  return (text.match(pattern) ?? [])
    .map((token) =>
      token
        .replaceAll("\\", "/")
        .replace(/^[.:#+/-]+(?=[^.:#+/-])/, "")
        .replace(/[.:#+/-]+$/, ""),
    )
    .filter((token) => token.split(between).some((word) => word !== ""));
}

function isPath(token: string): boolean {
  const [file = token] = token.split(/[:#]/);
  return FILE_NAME.test(file.split("/").at(-1) ?? "") || /^[\w@.-]+(?:\/[\w@.+-]+){2,}$/.test(token);
}

/**
 * Tokens that do not occur in ordinary sentences: humps, underscores, dots inside, a call, digits between letters,
 * capitals only.
 */
function looksLikeCode(token: string): boolean {
  return (
    /[a-z][A-Z]|[A-Za-z\d]_[A-Za-z\d]|^[_$][A-Za-z]|\(\)$|::|[A-Za-z]#[A-Za-z]|[A-Z][A-Z][a-z]/.test(token) ||
    /[A-Za-z]\.[A-Za-z]|^[A-Z][A-Z\d]{2,}$|^[A-Za-z]+\d+[A-Za-z]+$/.test(token)
  );
}

/** The names in a dotted one, without those every file uses. */
function namesIn(token: string): readonly string[] {
  return token
    .replace(/\(\)$/, "")
    .split(/[.:#/]+/)
    .filter((name) => name.length > 1 && name !== "this" && name !== "self");
}

function first<Term>(terms: Iterable<Term>): readonly Term[] {
  return Array.from(terms).slice(0, MOST_TERMS);
}
