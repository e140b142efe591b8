/**
 * Whether a text that stands where a secret could stand is one. All of them look at a short text once, so they take no
 * time.
 */

/** `${PASSWORD}`, `<password>`, `process.env.KEY`, `***`: something stands for the secret, or it was masked already. */
export function isPlaceholder(value: string): boolean {
  return /^(?:\$|\{|<|%|\*|x{4}|\.{3})|\*{4}|^(?:process\.|env\.|os\.|self\.|this\.|config\.|settings\.)|^\[masked/i.test(
    value,
  );
}

/** "sk-fading-circle-container": words and nothing that looks random. */
export function isWords(value: string): boolean {
  return !/\d/.test(value) && !/[a-z][A-Z]|[A-Z]{2}[a-z]/.test(value);
}

/**
 * `senderCurve25519Key`, "org.matrix.msc3231.login.registration_token", `P256.getPublicKey`: names in code have digits
 * too, but few, between words that can be spoken. A password may be made of words, so under that name only a member of
 * something counts. An address of a contract is not a secret either.
 */
export function isName(value: string, before: string): boolean {
  if (/^0x[0-9a-f]{40}$/i.test(value)) return true;
  if (/pass|pwd/i.test(before) && !isMember(value)) return false;
  if (!/[a-z_]/.test(value)) return false;
  const words = value.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+/g) ?? [];
  const letters = words.join("").length;
  const vowels = value.match(/[aeiou]/gi)?.length ?? 0;
  const changes = value.match(/[A-Za-z](?=\d)|\d(?=[A-Za-z])/g)?.length ?? 0;
  if (letters < words.length * 3 || vowels < letters * 0.28 || changes > value.length * 0.13) return false;
  return words.every((word) => word.length < 4 || /[aeiouy]/i.test(word));
}

/** `credentials.password`: a member of something in code. */
export function isMember(value: string): boolean {
  return /^[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)+$/.test(value);
}

/**
 * Hexadecimal, or at least 3.2 bits for each character, with letters and digits; a path, a call or a version is not
 * random.
 */
export function looksRandom(value: string): boolean {
  if (!/[A-Za-z]/.test(value) || !/\d/.test(value)) return false;
  if (/^(?:[a-z]+[._-])+[a-z]*\d{0,4}$/i.test(value)) return false;
  if (isPath(value)) return false;
  if (/^[0-9a-f]{16,}$/i.test(value)) return true;
  return entropy(value) >= 3.2;
}

/** PWD, the working directory, is called like a password. */
function isPath(value: string): boolean {
  return /^\/(?:Users|etc|home|mnt|opt|private|root|run|srv|tmp|usr|var)\//.test(value);
}

/** Bits for each character, of the first 200. */
function entropy(value: string): number {
  const sample = value.slice(0, 200);
  const counts = new Map<string, number>();
  for (const character of sample) counts.set(character, (counts.get(character) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / sample.length) * Math.log2(count / sample.length);
  return bits;
}

/**
 * A password that a person made up: it has a digit or a sign besides its letters, and is neither a path nor an
 * expression in code.
 */
export function looksChosen(value: string): boolean {
  if (isPlaceholder(value) || isMember(value) || /^[~/.]|[()[\]{}<>`\\]/.test(value)) return false;
  if (/^[a-z]+(?:[-_.:][a-z]+)*$/i.test(value)) return false;
  return /[A-Za-z]/.test(value) && /[^A-Za-z]/.test(value) && !/^[\d.]+[a-z]{0,3}$|^0x[\da-f]+$/i.test(value);
}

/**
 * Harmless values of a variable whose name ends in PASS: a switch, a number, a path or a reference to another variable.
 */
export function isSwitch(value: string): boolean {
  return (
    isPlaceholder(value) || /^(?:\d{1,3}|true|false|yes|no|on|off|none|null|undefined|""|'')$|^[~/.`]/i.test(value)
  );
}
