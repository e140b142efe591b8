/** Folding a plan's entries gives where each path began and ended: the same as carrying them out one by one. */
import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { ChangeEntry, FileImage } from "../domain/plan/change-entry.ts";
import type { ChangesetId } from "../domain/names/ids.ts";
import { netChanges } from "./net-changes.ts";

const PATHS = ["a", "b", "c", "d/e"] as const;
const image = fc.record({
  hash: fc.constantFrom("1", "2", "3").map((digit) => digit.repeat(64)),
  mode: fc.constantFrom(0o100644, 0o100755, 0o120000),
});
const move = fc.record({
  path: fc.constantFrom(...PATHS),
  to: fc.constantFrom(...PATHS),
  after: fc.option(image),
  rename: fc.boolean(),
});

test("folding is replaying", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom(...PATHS), image), fc.array(move, { maxLength: 25 }), (start, moves) => {
      const begin = new Map<string, FileImage>(Object.entries(start));
      const now = new Map(begin);
      const entries: ChangeEntry[] = [];
      const add = (facts: Partial<ChangeEntry> & Pick<ChangeEntry, "path" | "operation">): void => {
        entries.push({
          changesetId: "" as ChangesetId,
          sequence: entries.length + 1,
          resource: "api",
          fromPath: undefined,
          before: undefined,
          after: undefined,
          toolInvocation: undefined,
          decision: undefined,
          at: 0,
          ...facts,
        });
      };
      for (const { path, to, after, rename } of moves) {
        const before = now.get(path);
        if (rename) {
          if (before === undefined || now.has(to)) continue;
          add({ path: to, fromPath: path, operation: "rename", before, after: before });
          now.delete(path);
          now.set(to, before);
        } else if (after !== null) {
          add({ path, operation: before === undefined ? "create" : "modify", before, after });
          now.set(path, after);
        } else if (before !== undefined) {
          add({ path, operation: "delete", before });
          now.delete(path);
        }
      }
      const net = netChanges(entries);
      const key = (one: FileImage | undefined): string => `${one?.mode} ${one?.hash}`;
      for (const path of PATHS) {
        const [before, after] = [begin.get(path), now.get(path)];
        if (key(before) === key(after)) expect(net.has(path)).toBe(false);
        else expect(net.get(path)).toEqual({ before, after });
      }
      expect([...net.keys()]).toEqual([...net.keys()].sort());
    }),
    { numRuns: 500 },
  );
});
