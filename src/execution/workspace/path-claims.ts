/**
 * Which call changed which path, so that no two that run at the same time change the same one: which was last would
 * be chance.
 */
import { AgentsError } from "../../domain/errors/errors.ts";
import { shown } from "../../domain/text/text.ts";
import { planStepOf } from "../../changes/step-records.ts";

export class PathClaims {
  /** Which call of the current wave changed a path last. */
  readonly #touched = new Map<string, string>();
  /** The calls that are under way. */
  readonly #running = new Set<string>();

  /**
   * Steps of one wave run at the same time; the paths that an earlier wave changed are free again. `touched`: which
   * call of this wave changed a path before the run was interrupted.
   */
  beginWave(touched: ReadonlyMap<string, string>): void {
    this.#touched.clear();
    for (const [path, call] of touched) this.#touched.set(path, call);
  }

  /**
   * The paths that a call changes belong to it until it has ended, also when a step makes several calls at the same
   * time.
   */
  async during<T>(by: string, call: () => Promise<T>): Promise<T> {
    this.#running.add(by);
    try {
      return await call();
    } finally {
      this.#running.delete(by);
    }
  }

  /** Another call that changes the path at the same time. */
  rival(by: string, path: string): string | undefined {
    const other = this.#touched.get(path);
    if (other === undefined || other === by) return undefined;
    return planStepOf(other) !== planStepOf(by) || this.#running.has(other) ? other : undefined;
  }

  /** @throws when the path is another call's. */
  claim(by: string, path: string): void {
    const other = this.rival(by, path);
    if (other !== undefined) {
      const steps = [other, by].map(planStepOf);
      const [first, second] = steps[0] === steps[1] ? [other, by] : steps;
      throw new AgentsError(
        "tool_failed",
        `The steps "${first}" and "${second}" run at the same time and both change ${shown(path)}.`,
        {
          detail: { path, steps: [first, second] },
          next: [{ text: `let "${second}" need "${first}" in the actor's file` }],
        },
      );
    }
    this.#touched.set(path, by);
  }
}
