/**
 * Decides which operation may write when. Operations on different paths run side by side, on one path one after
 * another; a command whose changes are found by comparing before and after has everything to itself, because two of
 * them at once would each claim the other's files.
 */
import { Lane } from "../../platform/lane.ts";

export class PathExclusion {
  readonly #paths = new Map<string, { lane: Lane; users: number }>();
  readonly #waiting: { readonly exclusive: boolean; readonly start: () => void }[] = [];
  #shared = 0;
  #exclusive = false;

  /**
   * Runs `section` while no other section of one of the same keys runs. Keys are taken in one order, so there is no
   * deadlock.
   */
  async onPaths<T>(keys: readonly string[], section: () => Promise<T>): Promise<T> {
    await this.#enter(false);
    try {
      return await this.#nested([...new Set(keys)].sort(), section);
    } finally {
      this.#shared -= 1;
      this.#admit();
    }
  }

  async alone<T>(section: () => Promise<T>): Promise<T> {
    await this.#enter(true);
    try {
      return await section();
    } finally {
      this.#exclusive = false;
      this.#admit();
    }
  }

  async #nested<T>(keys: readonly string[], section: () => Promise<T>): Promise<T> {
    const [key, ...rest] = keys;
    if (key === undefined) return section();
    const held = this.#paths.get(key) ?? { lane: new Lane(), users: 0 };
    this.#paths.set(key, held);
    held.users += 1;
    try {
      return await held.lane.run(() => this.#nested(rest, section));
    } finally {
      held.users -= 1;
      if (held.users === 0) this.#paths.delete(key);
    }
  }

  /** First come, first served: a waiting exclusive section is not overtaken for ever. */
  async #enter(exclusive: boolean): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#waiting.push({ exclusive, start: resolve });
      this.#admit();
    });
  }

  #admit(): void {
    for (let next = this.#waiting[0]; next !== undefined && !this.#exclusive; next = this.#waiting[0]) {
      if (next.exclusive && this.#shared > 0) return;
      this.#waiting.shift();
      if (next.exclusive) this.#exclusive = true;
      else this.#shared += 1;
      next.start();
    }
  }
}
