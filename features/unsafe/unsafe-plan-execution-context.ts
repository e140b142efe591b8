import { PlanError } from "../../src/domain/errors/errors.ts";

/**
 * The execution context as it was before: a list of active ids, appended to after the store has answered, and a record
 * that goes to the last one. `pause` is where the original could be interrupted.
 */
export class UnsafePlanExecutionContext {
  readonly entries = new Map<string, string[]>();
  readonly #active: string[] = [];
  readonly #pause: () => Promise<void>;
  #started = 0;

  constructor(pause: () => Promise<void>) {
    this.#pause = pause;
  }

  async startChangeset(): Promise<string> {
    this.#started += 1;
    const id = `changeset-${this.#started}`;
    this.entries.set(id, []);
    await this.#pause();
    this.#active.push(id);
    return id;
  }

  async recordChange(path: string): Promise<void> {
    const id = this.#active.at(-1);
    if (id === undefined) throw new PlanError("No active changeset. Call startChangeset() first.");
    await this.#pause();
    this.entries.get(id)?.push(path);
  }
}
