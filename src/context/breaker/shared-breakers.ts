/**
 * Synchronizes the circuits of this process with those of all others. Inside a process the breaker's memory decides, at
 * once and exactly; the store is where processes meet. A change of a circuit here is applied to its row by the same
 * rules, so three processes with one failure each open it as one with three does; and the changes of others are taken
 * over at the start of each assembly and every second.
 *
 * Late results change nothing across processes either. A row has a generation of its own, and each circuit remembers to
 * which generation of the row its memory corresponds (`link`): a result that belongs to an older one is dropped, and
 * the row is taken over instead.
 *
 * Not exact across processes: within the second until a change reaches the others, each process may send a probe of its
 * own.
 */
import { type BreakerRow, databaseTime, findBreaker, findBreakers } from "../../store/tables/breakers.ts";
import type { Store } from "../../store/port.ts";
import { changeRow, lowOf, newRow } from "./breaker-record.ts";
import type { BreakerChange } from "./breaker-transitions.ts";
import { durationOf } from "./breaker-word.ts";
import type { CircuitBreaker } from "./circuit-breaker.ts";
import { circuitName } from "./circuit-name.ts";

const REFRESH_MS = 1_000;

interface Circuit {
  readonly name: string;
  readonly strategy: string;
  readonly project: string;
  /** Which generation of the row the memory's generation stands for. */
  link: { readonly local: number; readonly row: number } | undefined;
  version: number;
  /** The changes made here that are not in the store yet. */
  pending: BreakerChange[];
}

export class SharedBreakers implements AsyncDisposable {
  readonly #store: Store;
  readonly #breaker: CircuitBreaker;
  readonly #circuits = new Map<string, Circuit>();
  readonly #timer: NodeJS.Timeout;
  readonly #stopListening: () => void;
  /** Everything that touches the store, one after another. */
  #last: Promise<void> = Promise.resolve();
  #counter: number | undefined;
  #writing = false;

  constructor(parts: { readonly store: Store; readonly breaker: CircuitBreaker }) {
    this.#store = parts.store;
    this.#breaker = parts.breaker;
    this.#stopListening = this.#breaker.onChange((change) => this.#receive(change));
    this.#timer = setInterval(() => void this.refresh(), REFRESH_MS).unref();
  }

  /** Registers a circuit, and so shares it. */
  circuit(strategy: string, project: string): string {
    const name = circuitName(strategy, project);
    if (!this.#circuits.has(name)) {
      this.#circuits.set(name, { name, strategy, project, link: undefined, version: 0, pending: [] });
      this.#counter = undefined;
    }
    return name;
  }

  /** Takes over the changes that other processes wrote since the last call. */
  refresh(): Promise<void> {
    return this.#then(async () => {
      const counter = await this.#store.changeCounter();
      if (counter === this.#counter) return;
      const { rows, now } = await this.#store.read(async (reader) => ({
        rows: await findBreakers(reader),
        now: await databaseTime(reader),
      }));
      const byName = new Map(rows.map((row) => [circuitName(row.strategy, row.project), row]));
      for (const circuit of this.#circuits.values()) {
        this.#adopt(circuit, byName.get(circuit.name) ?? newRow(circuit.strategy, circuit.project), now);
      }
      this.#counter = counter;
    });
  }

  /** Resolves when everything that happened so far is in the store. */
  settled(): Promise<void> {
    return this.#last;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    this.#stopListening();
    await this.#last;
  }

  #receive(change: BreakerChange): void {
    const circuit = this.#circuits.get(change.name);
    if (circuit === undefined) return;
    circuit.pending.push(change);
    if (this.#writing) return;
    this.#writing = true;
    void this.#then(async () => {
      this.#writing = false;
      for (const known of this.#circuits.values()) if (known.pending.length > 0) await this.#write(known);
    });
  }

  async #write(circuit: Circuit): Promise<void> {
    const changes = circuit.pending;
    circuit.pending = [];
    const settings = this.#breaker.shared.options;
    // The unit may be run again: everything it decides is in its result.
    const { row, now, link } = await this.#store.transaction(async (tx) => {
      const found = await findBreaker(tx, circuit.strategy, circuit.project);
      let current = found ?? newRow(circuit.strategy, circuit.project);
      let next = circuit.link ?? { local: changes[0]?.generation ?? 0, row: current.generation };
      for (const change of changes) {
        const isLate = change.generation !== next.local || current.generation !== next.row;
        if (change.cause !== "reset" && isLate) continue;
        current = await changeRow(tx, current, change.cause, settings);
        next = { local: change.nextGeneration, row: current.generation };
      }
      return { row: current, now: await databaseTime(tx), link: next };
    });
    circuit.link = link;
    this.#adopt(circuit, row, now);
  }

  /** Sets the memory to the row's state, unless a change was made here that is not in the row yet. */
  #adopt(circuit: Circuit, row: BreakerRow, now: number): void {
    if (circuit.pending.length > 0) return;
    if (circuit.link?.row === row.generation && circuit.version === row.version) return;
    const seen = this.#breaker.word(circuit.name);
    const low = lowOf(row);
    const isSameGeneration = circuit.link?.local === seen.generation && circuit.link.row === row.generation;
    let generation: number | undefined = seen.generation;
    if (low !== seen.low || (circuit.link !== undefined && !isSameGeneration)) {
      const raise = !isSameGeneration || stateDiffers(low, seen.low);
      const duration = durationOf(low, this.#breaker.shared.options);
      const endsInMs = Math.min(duration, Math.max(0, (row.ends_at ?? now) - now));
      generation = this.#breaker.adopt(circuit.name, seen, { low, raise, endsInMs });
    }
    if (generation === undefined) return;
    circuit.link = { local: generation, row: row.generation };
    circuit.version = row.version;
  }

  /** A failing store must not make the assembly fail: the store's next use reports the error. */
  #then(work: () => Promise<void>): Promise<void> {
    const attempt = async (): Promise<void> => {
      try {
        await work();
      } catch (error) {
        this.#counter = undefined;
        process.emitWarning(error instanceof Error ? error : String(error));
      }
    };
    this.#last = this.#last.then(attempt);
    return this.#last;
  }
}

function stateDiffers(a: number, b: number): boolean {
  return (a & 3) !== (b & 3);
}
