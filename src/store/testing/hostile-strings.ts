/** Strings that have broken programs like this one. None of them is a name, and none of them may crash anything. */
export const HOSTILE_STRINGS: readonly string[] = [
  "",
  " ",
  "\t",
  "\n",
  "a\n",
  "/etc/passwd",
  "//server/share",
  "..",
  "../..",
  "a/../../b",
  "./a",
  "a/./b",
  "a//b",
  "C:\\Windows",
  "C:/Windows",
  "a\\b",
  "\\\\server\\share",
  "file:///etc/passwd",
  "~/secret",
  "$HOME/x",
  "a\0b",
  "\0",
  "%00",
  "\u001b[2Jx",
  "\u009b2Jx",
  "\u007f",
  "\u0085",
  "a\rb",
  "\ud800",
  "\udc00\ud800",
  "x\udfff",
  "\u202egnp.exe",
  "\u2028",
  "\ufeffname",
  "na\u200bme",
  "ﬁx",
  "ｆｉｘ",
  "İstanbul",
  "ſystem",
  "Кириллица",
  "é",
  "e\u0301",
  "🦑",
  "__proto__",
  "__proto__/x",
  "x/__proto__",
  "'; DROP TABLE plans; --",
  '"',
  "`id`",
  "$(id)",
  "{{x}}",
  "${x}",
  "<script>",
  "x".repeat(1_000_000),
  "x/".repeat(500_000),
  ":".repeat(1_000_000),
  "[".repeat(1_000_000),
  "\0".repeat(1_000_000),
];

/** Words with a meaning of their own in JavaScript that are perfectly good names. */
export const LOADED_WORDS: readonly string[] = [
  "constructor",
  "prototype",
  "toString",
  "hasOwnProperty",
  "valueOf",
  "null",
];

/** Runs `check` with every hostile string; the one error names all for which it failed. */
export function withEveryHostileString(check: (text: string) => void): void {
  const failures: string[] = [];
  for (const text of HOSTILE_STRINGS) {
    try {
      check(text);
    } catch (error) {
      const why = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
      failures.push(`${JSON.stringify(text.slice(0, 12))} (${text.length}): ${JSON.stringify(why.slice(0, 120))}`);
    }
  }
  if (failures.length > 0) throw new Error(`It failed for\n${failures.join("\n")}`);
}
