/** The walk through a plan's changes, by the answers of a person. */
import { expect, test } from "vitest";
import type { WalkedChange } from "./procedures/review-walk.ts";
import { calls, FIX, LoopWorld, step, strategy } from "./testing/loop-world.ts";

/** Two changes in one hunk of a.txt, a new file, and a renamed one. */
async function executed(loop: LoopWorld): Promise<string> {
  const lines = Array.from({ length: 8 }, (_, at) => `line ${at}`);
  loop.commit({ "a.txt": `${lines.join("\n")}\n`, "old.txt": "kept\nas it is\n" });
  const text = `${lines.with(1, "changed").with(5, "changed too").join("\n")}\n`;
  loop.script(
    strategy(FIX),
    step("fix", { match: { tool: "move_file" }, text: "Done." }),
    step("fix", { match: { tool: "write_file" }, ...calls("move_file", { from: "old.txt", to: "new.txt" }) }),
    step("fix", {
      tool_calls: [
        { tool: "write_file", parameters: { path: "a.txt", content: text } },
        { tool: "write_file", parameters: { path: "b.txt", content: "b\n" } },
      ],
    }),
  );
  return (await loop.run("change the files")).planId;
}

interface Walked {
  readonly places: readonly string[];
  readonly said: readonly string[];
  readonly marks: Readonly<Record<string, readonly (string | null | undefined)[]>>;
}

/** The person answers each question by the next word; without more words the answer is missing. */
async function walked(loop: LoopWorld, plan: string, words: readonly string[]): Promise<Walked> {
  const agents = await loop.agents();
  const left = [...words];
  const places: string[] = [];
  const said: string[] = [];
  const { files } = await agents.run(
    "plan.review",
    { plan },
    {
      answers: "person",
      ask: async (question) => {
        for (const { output } of question.kind === "review" ? question.shown : []) {
          const { place, path } = output as WalkedChange;
          places.push(`${place} ${path}`);
        }
        const word = left.shift();
        return word === undefined ? { kind: "none" } : { kind: "text", text: word };
      },
      tell: (event) => void (event.type === "notice" && said.push(event.text)),
    },
  );
  const marks = files.flatMap(({ changes }) =>
    changes.map(({ name, verdict, reason, comment }) => [name, [verdict, reason, comment]] as const),
  );
  return { places, said, marks: Object.fromEntries(marks) };
}

test("each key does what it says, and no answer stops with everything kept", async () => {
  await using loop = new LoopWorld();
  const plan = await executed(loop);
  const first = await walked(loop, plan, ["?", "k", "s", "y", "n", "wrong place", "s", "c", "why new?", "j"]);
  expect(first.said).toEqual([expect.stringContaining("y accept"), "This change cannot be split."]);
  const verdicts = Object.values(first.marks);
  expect(verdicts).toContainEqual(["accepted", null, null]);
  expect(verdicts).toContainEqual(["rejected", "wrong place", null]);
  expect(verdicts).toContainEqual(["undecided", null, "why new?"]);
  const second = await walked(loop, plan, ["c", "", "d", "", "q"]);
  expect(second.places[0]).toMatch(/^\d of \d /);
  expect(Object.values(second.marks).filter(([verdict]) => verdict === "rejected").length).toBeGreaterThan(1);
});

test("the rest of a file is accepted at once, and a renamed file is shown by both names", async () => {
  await using loop = new LoopWorld();
  const plan = await executed(loop);
  const all = await walked(loop, plan, ["a", "a", "a", "a"]);
  expect(all.places.join("\n")).toContain("old.txt → new.txt");
  expect(new Set(Object.values(all.marks).map(([verdict]) => verdict))).toEqual(new Set(["accepted"]));
  // Everything is decided: it begins at the first again, and leaves it as it is.
  const again = await walked(loop, plan, ["q"]);
  expect(again.places).toHaveLength(1);
  expect(again.marks).toEqual(all.marks);
});
