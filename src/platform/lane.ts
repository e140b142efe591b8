/** One thing at a time, in the order of asking: a promise chain. Only short sections of our own code run in it. */
export class Lane {
  #tail: Promise<unknown> = Promise.resolve();

  run<T>(section: () => Promise<T>): Promise<T> {
    const result = this.#tail.then(section);
    this.#tail = result.then(ignore, ignore);
    return result;
  }
}

function ignore(): void {
  // The caller of the section gets its failure; the next section starts regardless.
}
