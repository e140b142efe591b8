import { seededRandom } from "../src/testing/random.ts";
import type { AttackWorld } from "./world.ts";

/** How one attack ended: held, or what got through. */
export interface Verdict {
  readonly attack: string;
  readonly through?: string;
}

export interface Campaign {
  readonly world: AttackWorld;
  /** A few attacks of each class, for every run of the tests; else all of them. */
  readonly quick: boolean;
  readonly seed: number;
}

/** One class of attacks: yields a verdict for each that was tried. */
export type AttackClass = (campaign: Campaign) => AsyncGenerator<Verdict>;

export function verdict(attack: string, ...through: (string | undefined | false)[]): Verdict {
  const found = through.filter((text) => typeof text === "string");
  return found.length === 0 ? { attack } : { attack, through: found.join("; ") };
}

/** All of them; in a quick campaign so many, drawn by its seed, so that every run tries others. */
export function tried<T>({ quick, seed }: Campaign, all: readonly T[], few: number): readonly T[] {
  if (!quick) return all;
  const random = seededRandom(seed);
  const drawn = all.map((one) => ({ one, number: random() })).toSorted((a, b) => a.number - b.number);
  return drawn.slice(0, few).map(({ one }) => one);
}

/** The things that every attack must have left as they were. */
export function harm(world: AttackWorld): string | undefined {
  const damage = world.damage();
  return damage.length === 0 ? undefined : `changed outside of the sandbox: ${damage.join(", ")}`;
}
