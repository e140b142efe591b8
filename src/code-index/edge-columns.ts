import type { GraphEdge, IndexedFile, ReferenceGraph } from "./scoped-index.ts";

const FIRST_CAPACITY = 4_096;
/** Numbers for each edge. */
const WIDTH = 5;

/** Collects the edges of a graph, one after another, without an object for each. */
export class EdgeColumns {
  #numbers = new Int32Array(FIRST_CAPACITY * WIDTH);
  #length = 0;
  readonly #names: string[] = [];

  /** @returns the position of the first. */
  addNames(names: readonly string[]): number {
    const first = this.#names.length;
    for (const name of names) this.#names.push(name);
    return first;
  }

  add(from: number, to: number, name: number, count: number, definers: number): void {
    if (this.#length === this.#numbers.length) {
      const larger = new Int32Array(this.#length * 2);
      larger.set(this.#numbers);
      this.#numbers = larger;
    }
    const [numbers, at] = [this.#numbers, this.#length];
    numbers[at] = from;
    numbers[at + 1] = to;
    numbers[at + 2] = name;
    numbers[at + 3] = count;
    numbers[at + 4] = definers;
    this.#length = at + WIDTH;
  }

  graph(files: readonly IndexedFile[]): ReferenceGraph {
    const [from, to, name, count, definers] = [0, 1, 2, 3, 4].map((place) => this.#column(place)) as Columns;
    const names = this.#names;
    return {
      files,
      names,
      from,
      to,
      name,
      count,
      definers,
      get edges() {
        return Array.from(from, (user, at): GraphEdge => {
          const [used = 0, uses = 0, all = 0] = [name[at], count[at], definers[at]];
          return { from: user, to: to[at] ?? 0, name: names[used] ?? "", count: uses, definers: all };
        });
      },
    };
  }

  #column(place: number): Int32Array {
    const column = new Int32Array(this.#length / WIDTH);
    for (let at = 0; at < column.length; at += 1) column[at] = this.#numbers[at * WIDTH + place] ?? 0;
    return column;
  }
}

type Columns = [from: Int32Array, to: Int32Array, name: Int32Array, count: Int32Array, definers: Int32Array];
