/** Exclusion: in every order of events no section runs beside one that excludes it, and every section gets its turn. */
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { PathExclusion } from "./exclusion.ts";
import { sized } from "../../testing/size.ts";

const RUNS = sized({ quick: 60, normal: 300, full: 5_000 });

test("in any schedule: one path one at a time, alone means alone, all get through, also when some fail", async () => {
  const section = fc.record({
    alone: fc.boolean(),
    keys: fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 3 }),
    fails: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.array(section, { minLength: 1, maxLength: 12 }),
      async (scheduler, sections) => {
        const exclusion = new PathExclusion();
        const inside = new Set<(typeof sections)[number]>();
        const overlapping = (one: (typeof sections)[number], other: (typeof sections)[number]): boolean =>
          one.alone || other.alone || one.keys.some((key) => other.keys.includes(key));
        const outcomes = sections.map((one) => {
          const body = async (): Promise<string> => {
            for (const other of inside) if (overlapping(one, other)) throw new Error("not excluded");
            inside.add(one);
            await scheduler.schedule(Promise.resolve());
            inside.delete(one);
            if (one.fails) throw new Error("failed itself");
            return "done";
          };
          const running = one.alone ? exclusion.alone(body) : exclusion.onPaths(one.keys, body);
          return running.catch((error: unknown) => String(error));
        });
        const all = Promise.all(outcomes);
        await scheduler.waitFor(all);
        expect(await all).toEqual(sections.map((one) => (one.fails ? "Error: failed itself" : "done")));
      },
    ),
    { numRuns: RUNS },
  );
});

function gate(): { readonly wait: Promise<void>; readonly open: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { wait: promise, open: resolve };
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("different paths run side by side; the same path in the order of asking", async () => {
  const exclusion = new PathExclusion();
  const log: string[] = [];
  const first = gate();
  const enter =
    (name: string, until: Promise<void> = Promise.resolve()) =>
    async (): Promise<void> => {
      log.push(name);
      await until;
    };
  const all = [
    exclusion.onPaths(["a"], enter("a1", first.wait)),
    exclusion.onPaths(["a"], enter("a2")),
    exclusion.onPaths(["a"], enter("a3")),
    exclusion.onPaths(["b"], enter("b")),
  ];
  await settle();
  expect(log).toEqual(["a1", "b"]);
  first.open();
  await Promise.all(all);
  expect(log).toEqual(["a1", "b", "a2", "a3"]);
});

test("one that wants to be alone is not overtaken by those who come later", async () => {
  const exclusion = new PathExclusion();
  const log: string[] = [];
  const first = gate();
  const running = exclusion.onPaths(["a"], () => first.wait);
  const alone = exclusion.alone(async () => void log.push("alone"));
  const later = exclusion.onPaths(["z"], async () => void log.push("later"));
  await settle();
  expect(log).toEqual([]);
  first.open();
  await Promise.all([running, alone, later]);
  expect(log).toEqual(["alone", "later"]);
});
