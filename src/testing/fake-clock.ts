/** A clock that stands still until it is told otherwise; `now` is what stores and services take as theirs. */
export class FakeClock {
  #time: number;

  constructor(start = 1_800_000_000_000) {
    this.#time = start;
  }

  readonly now = (): number => this.#time;

  advance(milliseconds: number): void {
    this.#time += milliseconds;
  }
}

/** Random bytes that are the same in every run, for ids that are too. */
export function countedBytes(): (target: Uint8Array) => void {
  let count = 0;
  return (target) => {
    count += 1;
    new DataView(target.buffer, target.byteOffset, target.byteLength).setUint32(2, count);
  };
}
