/**
 * What is left to be done when nobody waits for it any more: writing down what was found, for whoever asks the same again. It is done at the
 * end of whoever owns this, or when nothing was asked for a moment. Whoever asks again and again while files change, as a plan
 * does, thus never waits for what only the last answer is good for.
 */
const QUIET_MS = 250;

export class Afterwards implements Disposable {
  readonly #tasks = new Map<string, () => void>();
  #timer: NodeJS.Timeout | undefined;

  /** @param name a later task of the same name is done instead. Tasks do not throw. */
  leave(name: string, task: () => void): void {
    this.#tasks.set(name, task);
    clearTimeout(this.#timer);
    // It keeps no process from ending: whoever wants it done by then disposes of this.
    this.#timer = setTimeout(() => this.#run(), QUIET_MS).unref();
  }

  #run(): void {
    clearTimeout(this.#timer);
    const tasks = Array.from(this.#tasks.values());
    this.#tasks.clear();
    for (const task of tasks) task();
  }

  [Symbol.dispose](): void {
    this.#run();
  }
}
