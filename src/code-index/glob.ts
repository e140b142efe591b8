/**
 * Glob patterns as `node:path` matches them, with two differences that matter here: a name that begins with a dot is a name like any
 * other (an exclusion of `**\/*.pem` must not let `.ssh/key.pem` through), and a pattern is translated once (measured: 14 µs for each
 * file with `path.matchesGlob`, which is 24 ms for each pattern of a tree with 1,700 files).
 */
export function globMatcher(patterns: readonly string[]): (path: string) => boolean {
  const expressions = patterns.map((pattern) => new RegExp(`^(?:${translate(pattern)})$`, "su"));
  return (path) => expressions.some((expression) => expression.test(path));
}

function translate(pattern: string): string {
  let out = "";
  let braces = 0;
  for (let at = 0; at < pattern.length;) {
    const character = String.fromCodePoint(pattern.codePointAt(at) ?? 0);
    const rest = pattern.slice(at);
    const startsSegment = at === 0 || pattern[at - 1] === "/";
    const deep = startsSegment ? /^\*\*(?:\/|$)/.exec(rest) : null;
    if (deep !== null) {
      // `**/` is any number of directories, a last `**` everything below.
      out += deep[0] === "**" ? "(?:.+)?" : "(?:[^/]+/)*";
      at += deep[0].length;
      continue;
    }
    if (character === "*") {
      const stars = /^\*+/.exec(rest)?.[0].length ?? 1;
      const endsSegment = at + stars === pattern.length || pattern[at + stars] === "/";
      // A segment that is nothing but a star stands for a name, which is never empty.
      out += startsSegment && endsSegment ? "[^/]+" : "[^/]*";
      at += stars;
      continue;
    }
    const set = character === "[" ? /^\[(?<not>[!^]?)(?<members>\]?[^\]/]*)\]/.exec(rest) : null;
    if (set !== null) {
      const members = (set.groups?.["members"] ?? "").replaceAll(/[\\\][^&~|.()+*?{}$#,]/g, String.raw`\$&`);
      out += set.groups?.["not"] === "" ? `[${members}]` : `[^/${members}]`;
      at += set[0].length;
      continue;
    }
    if (character === "?") out += "[^/]";
    else if (character === "{" && rest.includes("}")) {
      out += "(?:";
      braces += 1;
    } else if (character === "}" && braces > 0) {
      out += ")";
      braces -= 1;
    } else if (character === "," && braces > 0) out += "|";
    else if (character === "\\" && at + 1 < pattern.length) {
      at += 1;
      const escaped = String.fromCodePoint(pattern.codePointAt(at) ?? 0);
      out += literal(escaped);
      at += escaped.length;
      continue;
    } else out += literal(character);
    at += character.length;
  }
  return out;
}

function literal(character: string): string {
  return /[\\^$.*+?()[\]{}|/]/.test(character) ? `\\${character}` : character;
}
