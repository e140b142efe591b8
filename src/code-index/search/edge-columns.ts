import type { CodeGraphEdge, ReferenceGraph } from "../model/scoped-index.ts";

const FIRST_CAPACITY = 65_536;

/** Collects the edges of a graph, one after another, without an object for each. */
export class EdgeColumns {
  #from = new Int32Array(FIRST_CAPACITY);
  #to = new Int32Array(FIRST_CAPACITY);
  #name = new Int32Array(FIRST_CAPACITY);
  #count = new Int32Array(FIRST_CAPACITY);
  #definers = new Int32Array(FIRST_CAPACITY);
  #imported = new Int32Array(FIRST_CAPACITY);
  #length = 0;

  add(from: number, to: number, name: number, count: number, definers: number, isImported: boolean): void {
    const at = this.#length++;
    if (at === this.#from.length) this.#grow();
    this.#from[at] = from;
    this.#to[at] = to;
    this.#name[at] = name;
    this.#count[at] = count;
    this.#definers[at] = definers;
    this.#imported[at] = isImported ? 1 : 0;
  }

  #grow(): void {
    this.#from = grown(this.#from);
    this.#to = grown(this.#to);
    this.#name = grown(this.#name);
    this.#count = grown(this.#count);
    this.#definers = grown(this.#definers);
    this.#imported = grown(this.#imported);
  }

  graph(parts: Pick<ReferenceGraph, "files" | "names" | "importer" | "importee">): ReferenceGraph {
    const whole = (column: Int32Array): Int32Array => column.slice(0, this.#length);
    const [from, to, name] = [whole(this.#from), whole(this.#to), whole(this.#name)];
    const [count, definers, imported] = [whole(this.#count), whole(this.#definers), whole(this.#imported)];
    return {
      ...parts,
      from,
      to,
      name,
      count,
      definers,
      imported,
      get edges() {
        return Array.from(from, (user, at): CodeGraphEdge => {
          const [used = 0, uses = 0, all = 0] = [name[at], count[at], definers[at]];
          return { from: user, to: to[at] ?? 0, name: parts.names[used] ?? "", count: uses, definers: all };
        });
      },
    };
  }
}

function grown(column: Int32Array): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(column.length * 2);
  larger.set(column);
  return larger;
}
