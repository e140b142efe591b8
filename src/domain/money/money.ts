/**
 * Millionths of a US dollar: whole numbers, rounded up, so that sums in the store are exact and never too low. A cost
 * that is not known is undefined, never 0: the code that keeps a budget must decide what to do about it.
 */
export type Microdollars = number;

const DOLLARS = /^\$?(\d{1,9})(?:\.(\d{1,6}))?$/;

/** "2.50", "$2.50" or "3"; undefined for anything else. Never by way of a fraction, which 0.1 is not in binary. */
export function parseDollars(text: string): Microdollars | undefined {
  const [, whole, part = ""] = DOLLARS.exec(text.trim()) ?? [];
  return whole === undefined ? undefined : Number(whole) * 1_000_000 + Number(part.padEnd(6, "0"));
}

/** For people: cents, or as many digits as an amount below a dollar needs to be told from another. */
export function dollars(amount: Microdollars): string {
  const digits = amount % 10_000 === 0 || amount >= 1_000_000 ? 2 : amount >= 10_000 ? 4 : 6;
  return `$${(amount / 1_000_000).toFixed(digits).replace(/(\.\d\d\d*?)0+$/, "$1")}`;
}

/** Like `dollars`, but rounded down: money that is left is never shown as more than it is. */
export function dollarsLeft(amount: Microdollars): string {
  const unit = amount >= 1_000_000 ? 10_000 : amount >= 10_000 ? 100 : 1;
  return dollars(amount - (amount % unit));
}
