/**
 * Names on their way from the thread that reads files to the thread that writes: each is sent once, with the first
 * content that has it, and from then on is a number. The same few names are in most files, and a string costs both
 * threads far more than a number.
 */

/** Beyond this, numbering begins again: more would only cost memory. */
const REMEMBERED = 200_000;

/** The names of one content: those that are new, and the number of the first of them. */
export interface SentNames {
  readonly from: number;
  readonly names: readonly string[];
}

export class NameNumbers {
  readonly #numbers = new Map<string, number>();
  readonly #most: number;
  #sent = 0;
  #fresh: string[] = [];

  constructor(most = REMEMBERED) {
    this.#most = most;
  }

  of(name: string): number {
    const known = this.#numbers.get(name);
    if (known !== undefined) return known;
    // A string cut out of a text would keep all of the text in memory.
    const own = Buffer.from(name).toString();
    const number = this.#numbers.size;
    this.#numbers.set(own, number);
    this.#fresh.push(own);
    return number;
  }

  /** The names that are new since the last call. */
  send(): SentNames {
    const sent = { from: this.#sent, names: this.#fresh };
    this.#sent = this.#numbers.size;
    this.#fresh = [];
    if (this.#sent >= this.#most) {
      this.#numbers.clear();
      this.#sent = 0;
    }
    return sent;
  }
}

/** The receiving side: the names behind the numbers, and the ids that the index has for them. */
export class ReceivedNames {
  readonly #names: string[] = [];
  readonly #ids: (number | undefined)[] = [];

  receive({ from, names }: SentNames): void {
    this.#names.length = from;
    this.#ids.length = from;
    for (const name of names) {
      this.#names.push(name);
      this.#ids.push(undefined);
    }
  }

  /** The id, which is looked up when it is needed for the first time. */
  id(number: number, idOf: (name: string) => number): number {
    const known = this.#ids[number];
    if (known !== undefined) return known;
    const name = this.#names[number];
    if (name === undefined) throw new Error(`no name was sent with the number ${number}`);
    return (this.#ids[number] = idOf(name));
  }
}
