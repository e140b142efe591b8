/** Small pieces that several commands show the same way. */

function instant(at: number): string {
  return new Date(at).toISOString();
}

/** For people, in a column: seconds are enough. */
export function shortInstant(at: number): string {
  return instant(at).slice(0, 19).replace("T", " ");
}

export function count(quantity: number, singular: string, plural = `${singular}s`): string {
  return `${quantity} ${quantity === 1 ? singular : plural}`;
}

const SIZES = ["bytes", "KiB", "MiB", "GiB", "TiB"] as const;

/** "1 MiB", "1.5 KiB", "12 bytes". */
export function bytes(quantity: number): string {
  const power = quantity < 1024 ? 0 : Math.min(SIZES.length - 1, Math.floor(Math.log2(quantity) / 10));
  const scaled = quantity / 1024 ** power;
  return `${Number.isInteger(scaled) ? scaled : scaled.toFixed(1)} ${SIZES[power]}`;
}

export function orDash(text: string | null | undefined): string {
  return text ?? "-";
}

export function accessText(readOnly: boolean): string {
  return readOnly ? "read-only" : "read-write";
}

/** "12,345": long numbers are read in groups. */
export function thousands(quantity: number): string {
  return String(quantity).replaceAll(/\B(?=(\d{3})+$)/g, ",");
}

/** "12,345 tokens in (11,000 cached), 67 out" */
export function tokensText(tokens: {
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly outputTokens: number;
}): string {
  const cached = tokens.cachedTokens === 0 ? "" : ` (${thousands(tokens.cachedTokens)} cached)`;
  return `${thousands(tokens.inputTokens)} tokens in${cached}, ${thousands(tokens.outputTokens)} out`;
}

/** "12 ms", "3.4 s", "2 min 05 s". */
export function duration(milliseconds: number): string {
  if (milliseconds < 1_000) return `${Math.round(milliseconds)} ms`;
  const seconds = milliseconds / 1_000;
  if (seconds < 59.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  return `${Math.floor(whole / 60)} min ${String(whole % 60).padStart(2, "0")} s`;
}

/** "now", "12 min", "3 h", "2 d", "5 weeks": how long ago, for a column. */
export function age(milliseconds: number): string {
  const minutes = Math.floor(Math.max(0, milliseconds) / 60_000);
  if (minutes < 1) return "now";
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return `${hours} h`;
  const days = Math.floor(hours / 24);
  return days < 21 ? `${days} d` : `${Math.floor(days / 7)} weeks`;
}
