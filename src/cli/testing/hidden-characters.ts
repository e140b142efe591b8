/**
 * The characters that must not reach a terminal, declared a second time so that a test does not rely on the code under
 * test; and those of them that we print on purpose.
 */
const FORBIDDEN = new RegExp(
  [
    String.raw`[\0-\x08\x0b-\x1f\x7f-\x9f\xad]`,
    String.raw`\u034f|\u061c|[\u115f\u1160]|[\u17b4\u17b5]|[\u180b-\u180f]|[\u200b-\u200f\u2028-\u202e\u2060-\u206f]`,
    String.raw`\u3164|[\ufe00-\ufe0f]|[\ufeff\uffa0\ufff9-\ufffb]|[\u{e0000}-\u{e0fff}]|\p{Surrogate}`,
  ].join("|"),
  "gu",
);

/** Colors, the movements of our views and of the line editor, and what a terminal makes of a line feed. */
const OWN = new RegExp(
  [
    String.raw`\x1b\[(?:1|2|22|31|32|33|39)m`,
    String.raw`\x1b\[\d+A\r`,
    String.raw`\r?\x1b\[K`,
    String.raw`\x1b\[0?J`,
    String.raw`\x1b\[\d+G`,
    // The inbox has the whole screen.
    String.raw`\x1b\[H`,
    String.raw`\x1b\[\?(?:1049|25)[hl]`,
    String.raw`\r+(?=\n)`,
  ].join("|"),
  "g",
);

const EMOJI =
  /\p{Extended_Pictographic}(?:[\ufe0e\ufe0f]|\p{Emoji_Modifier})?(?:\u200d\p{Extended_Pictographic}\ufe0f?)*/gu;

export function withoutOwnCodes(output: string): string {
  return output.replaceAll(OWN, "");
}

export function forbiddenIn(output: string): string[] {
  return withoutOwnCodes(output).replaceAll(EMOJI, "").match(FORBIDDEN) ?? [];
}
