import { ConflictError } from "../../src/domain/errors/errors.ts";

/** The lifecycle service as it was without a database: plain maps, and a step between looking and writing. */
export class UnsafePlanLifecycleService {
  readonly #actions = new Map<string, { name: string }>();
  readonly #plans = new Map<string, "queued" | "processing">();

  async createAction(name: string): Promise<void> {
    const taken = this.#actions.has(name);
    await Promise.resolve();
    if (taken) throw new ConflictError(`There is already an action "${name}".`, { expected: "none", actual: name });
    this.#actions.set(name, { name });
  }

  async useAction(): Promise<string> {
    const id = `plan-${this.#plans.size + 1}`;
    this.#plans.set(id, "queued");
    return id;
  }

  async startStrategize(id: string): Promise<void> {
    const state = this.#plans.get(id);
    await Promise.resolve();
    if (state !== "queued")
      throw new ConflictError(`The plan ${id} is ${state}.`, { expected: "queued", actual: state });
    this.#plans.set(id, "processing");
  }
}
