/**
 * Each way in which work with a model goes wrong, through the command line and over a strict wire. The work so far is
 * kept, the user is told what happened, and the way on that the message names leads to the end: there is no dead end.
 * The model gives its answers in a fixed order, so a question that is asked twice shows.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { strictServer } from "../actors/testing/strict-server.ts";
import type { WireAnswer } from "../actors/testing/wires/wire.ts";
import { git } from "../testing/git-repository.ts";
import type { Envelope } from "./testing/agents.ts";
import { calls, lastResult, TurnList, WireWorld, type Turn } from "./testing/wire-world.ts";

const ACTOR = "anthropic/claude-sonnet-4-5";
const STEPS = [
  { id: "one", description: "Write one.txt", risk: 0.1, confidence: 0.9 },
  { id: "two", description: "Write two.txt", needs: ["one"], risk: 0.1, confidence: 0.9 },
];
const write = (path: string, content = "x\n"): WireAnswer => calls("write_file", { path, content });
const BEGIN: readonly Turn[] = [
  calls("record_strategy", { steps: STEPS }),
  write("one.txt"),
  { text: "One is there." },
];
const END: readonly Turn[] = [write("two.txt"), { text: "Two is there." }];

interface Mode {
  readonly name: string;
  readonly files?: Readonly<Record<string, string>>;
  /** The answers before the trouble; the strategy and the first step unless given. */
  readonly begin?: readonly Turn[];
  /** The model's answers in the second step. */
  readonly trouble: readonly Turn[];
  /** How the command ends; undefined when the plan continues by itself. */
  readonly stops?: { readonly exit: number; readonly code: string; readonly says: readonly (string | RegExp)[] };
  /** The command that the user gives besides the one that is suggested, such as an answer. */
  readonly reply?: (id: string) => string[];
  /** The answers after that. */
  readonly afterwards?: readonly Turn[];
  /** The refusals of the endpoint. */
  readonly refused?: readonly string[];
}

/** Gives the answer if the model was told this; otherwise the run ends with what it was told instead. */
function told(pattern: RegExp, answer: Turn): Turn {
  return (request) => {
    const since = request.messages.findLastIndex(({ role }) => role === "assistant");
    const words = request.messages
      .slice(since + 1)
      .map(({ text }) => text)
      .join("\n");
    if (!pattern.test(words)) return { status: 418, message: `The model was not told ${pattern}: ${words}` };
    return typeof answer === "function" ? answer(request) : answer;
  };
}

/** Gives the answer if the conversation begins with its goal and this handover. */
function summedUp(handover: string, answer: WireAnswer): Turn {
  return ({ messages }) => {
    const [first] = messages;
    if (first?.text.includes(handover) === true && first.text.includes("# Goal")) return answer;
    return { status: 418, message: `The conversation begins with: ${first?.text}` };
  };
}

const times = (count: number, turn: Turn): Turn[] => Array.from({ length: count }, () => turn);
const CODE = "def total(price, amount):\n    return price * amount  # in cents\n";
const MISSED = calls("edit_file", { path: "a.py", old: "return price * amounts  # cents", new: "return 0" });
const LONG = "prompt is too long: 210000 tokens > 200000 maximum";
const tooLong: Turn = { status: 400, message: LONG };
const BIG = Array.from({ length: 12_000 }, (_, line) => `line ${line + 1} of a file of 400 kilobytes`).join("\n");

const MODES: readonly Mode[] = [
  {
    name: "the same call with wrong arguments, again and again",
    trouble: [
      ...times(2, calls("write_file", { path: "two.txt" })),
      told(/content/, calls("write_file", { path: "two.txt" })),
    ],
    stops: { exit: 1, code: "STUCK", says: ["write_file", "content"] },
  },
  {
    name: "an edit that does not match, again and again: the nearest place is shown",
    files: { "a.py": CODE },
    trouble: [...times(2, MISSED), told(/\b2\b.*return price \* amount/, MISSED)],
    stops: { exit: 1, code: "STUCK", says: ["edit_file", "return price * amount"] },
  },
  {
    name: "an edit that does not match, mended with the nearest place",
    files: { "a.py": CODE },
    trouble: [
      MISSED,
      told(/\b2\b.*return price \* amount/, (request) => {
        const [old = ""] = /(?<=→ *)return price.*/.exec(lastResult(request)) ?? [];
        return calls("edit_file", { path: "a.py", old, new: "return amount * price" });
      }),
      told(/return amount \* price/, calls("read_file", { path: "a.py" })),
    ],
  },
  {
    name: "a file of 400 kilobytes, read to its end in parts",
    files: { "big.txt": BIG },
    trouble: [
      calls("read_file", { path: "big.txt" }),
      (request) => {
        const [, offset = "0"] = /offset[ :=]*(\d+)/.exec(lastResult(request)) ?? [];
        return calls("read_file", { path: "big.txt", offset: Number(offset) });
      },
      told(/→line \d{4} of/, calls("read_file", { path: "big.txt", offset: 11_990 })),
      told(/line 12000 of a file/, calls("read_file", { path: "one.txt" })),
    ],
  },
  {
    name: "a command that never ends",
    trouble: [
      calls("shell_execute", { command: "echo begun; sleep 600", timeout_ms: 1_500 }),
      told(/^killed after 1.5 s[^]*begun/, calls("read_file", { path: "one.txt" })),
    ],
  },
  {
    name: "an early stop that claims success after one look",
    begin: [calls("record_strategy", { steps: [STEPS[0]] })],
    trouble: [
      calls("read_file", { path: "README" }),
      { text: "I have fixed everything." },
      told(/Nothing is changed/, write("one.txt")),
    ],
  },
  {
    name: "no tool at all",
    trouble: times(2, { text: "It is all done already." }),
    stops: { exit: 1, code: "STUCK", says: ["It is all done already."] },
  },
  {
    name: "a question in words after a look",
    trouble: [calls("read_file", { path: "README" }), { text: "Should the file have digits or words?" }],
    stops: { exit: 5, code: "AWAITING_INPUT", says: ["digits or words?"] },
    reply: (id) => ["plan", "prompt", id, "digits"],
    afterwards: [told(/The user answers: digits/, write("two.txt")), { text: "Digits it is." }],
  },
  {
    name: "a refusal by the provider's filter",
    trouble: [{ finish: "refused" }],
    stops: { exit: 1, code: "MODEL_REFUSED", says: ["refused to answer"] },
  },
  { name: "empty answers", trouble: times(2, {}), stops: { exit: 1, code: "STUCK", says: ["nothing"] } },
  {
    name: "a call that is cut off, and then written in parts",
    trouble: [
      { ...calls("write_file", { path: "two.txt", content: "x\n".repeat(2_000) }), finish: "length" },
      told(/cut off after \d+ tokens; nothing was done/, write("two.txt", "")),
      calls("write_file", { path: "two.txt", content: "x\n", append: true }),
      { text: "In two parts." },
    ],
    afterwards: [],
  },
  {
    name: "a call that is cut off, again and again",
    trouble: times(3, { ...calls("write_file", { path: "two.txt", content: "x" }), finish: "length" }),
    stops: { exit: 1, code: "STUCK", says: [/cut off after \d+ tokens/] },
  },
  {
    name: "a conversation that grew too long is summed up",
    files: { "big.txt": BIG },
    trouble: [
      calls("read_file", { path: "big.txt" }),
      calls("read_file", { path: "one.txt" }),
      tooLong,
      told(/handover/, { text: "One is written, two is not." }),
    ],
    afterwards: [summedUp("One is written, two is not.", write("two.txt")), { text: "Two is there." }],
    refused: [LONG],
  },
  {
    name: "a result that alone is too long, at the beginning of the conversation",
    files: { "big.txt": BIG },
    begin: [
      calls("read_file", { path: "big.txt" }),
      told(/line 1 of a file/, tooLong),
      told(/handover/, { text: "Nothing was done." }),
      told(/left out: \d+ lines.*read_file/, calls("record_strategy", { steps: STEPS })),
      ...BEGIN.slice(1),
    ],
    trouble: [],
    refused: [LONG],
  },
  {
    name: "a conversation that is too long in every form",
    files: { "big.txt": BIG.slice(0, 4_000) },
    trouble: [calls("read_file", { path: "big.txt" }), tooLong, { text: "One is written." }, tooLong, tooLong],
    stops: { exit: 1, code: "MODEL_CONTEXT_TOO_LONG", says: ["too long"] },
    refused: [LONG, LONG, LONG],
  },
  {
    name: "a rate limit that says how long to wait",
    trouble: [{ status: 429, message: "Slow down", headers: { "retry-after": "1" } }],
    refused: ["Slow down"],
  },
  {
    name: "an overloaded endpoint",
    trouble: [{ status: 529, message: "Overloaded" }],
    refused: ["Overloaded"],
  },
  {
    name: "an answer that breaks off in the middle, twice",
    trouble: times(2, { text: "I will now begin", breaksOff: true }),
  },
  {
    name: "as many calls as a step may take",
    trouble: [
      ...times(195, calls("read_file", { path: "one.txt" })),
      told(/you have at most 5 calls left/, calls("read_file", { path: "one.txt" })),
      ...times(4, calls("read_file", { path: "one.txt" })),
    ],
    stops: { exit: 1, code: "STUCK", says: ["not done after 200 calls"] },
  },
];

test.each(MODES.map((mode) => [mode.name, mode] as const))("%s", async (_, mode) => {
  const turns = new TurnList([
    ...(mode.begin ?? BEGIN),
    ...mode.trouble,
    ...(mode.stops === undefined ? (mode.afterwards ?? END) : []),
  ]);
  await using server = await strictServer({ script: turns.script });
  using world = new WireWorld();
  await world.at(server);
  if (mode.files !== undefined) world.commit(mode.files);
  const before = git(world.repository, "rev-parse", "HEAD");
  const first = await world.asked("write two files", "--actor", ACTOR, "--yes");
  const id = planOf(first);
  if (mode.stops !== undefined) {
    expectStopped(first, mode.stops);
    expect(turns.left).toBe(0);
    expect(git(world.repository, "rev-parse", "HEAD")).toBe(before);
    expect((await world.json("plan", "diff", id)).data["files"]).toMatchObject([{ path: "one.txt" }]);
    turns.continue(mode.afterwards ?? END);
    if (mode.reply !== undefined) expect((await world.json(...mode.reply(id))).error).toBeUndefined();
    expect((await world.json("plan", "execute", id)).error).toBeUndefined();
    expect((await world.json("plan", "apply", id, "--yes")).error).toBeUndefined();
  } else expect(first.error).toBeUndefined();
  expect(turns.left).toBe(0);
  expect(server.log.flatMap(({ refused }) => refused ?? [])).toEqual(mode.refused ?? []);
  expect(["one.txt", "two.txt"].map((name) => readFileSync(join(world.repository, name), "utf8"))).toEqual([
    "x\n",
    "x\n",
  ]);
});

/** A repository whose result must pass a check. */
async function checkedWorld(turns: TurnList, world: WireWorld): Promise<void> {
  turns.continue([calls("record_strategy", { answer: "A repository." })]);
  await world.asked("what is this?", "--actor", ACTOR);
  const check = "name: tests\ndescription: two is right\ncommand: cat two.txt; grep -q right two.txt\n";
  await world.json("validation", "add", "--config", world.write("tests.yaml", check));
  const { data } = await world.json("resource", "list");
  const [resource] = data["resources"] as { name: string }[];
  const { error } = await world.json("validation", "attach", String(resource?.name), "tests");
  expect(error).toBeUndefined();
}

test("a required check that fails goes back to the model, which mends it; unattended too", async () => {
  const turns = new TurnList([]);
  await using server = await strictServer({ script: turns.script });
  using world = new WireWorld();
  await world.at(server);
  await checkedWorld(turns, world);
  turns.continue([
    ...BEGIN,
    write("two.txt", "wrong\n"),
    { text: "Two is there." },
    told(/The check local\/tests failed[^]*wrong/, write("two.txt", "right\n")),
    { text: "Mended." },
  ]);
  const { data, error } = await world.asked("write two files", "--actor", ACTOR, "--automation-profile", "ci");
  expect(error).toBeUndefined();
  expect(data).toMatchObject({ state: "applied", checked: { outcome: "passed" } });
  expect(turns.left).toBe(0);
  expect(readFileSync(join(world.repository, "two.txt"), "utf8")).toBe("right\n");
});

test("a required check that the model does not mend keeps the plan; the user's word continues it", async () => {
  const turns = new TurnList([]);
  await using server = await strictServer({ script: turns.script });
  using world = new WireWorld();
  await world.at(server);
  await checkedWorld(turns, world);
  turns.continue([...BEGIN, write("two.txt", "wrong\n"), { text: "Done." }, { text: "NOTHING TO DO: it is right." }]);
  const { data, exit_code: code } = await world.asked("write two files", "--actor", ACTOR);
  expect([code, turns.left]).toEqual([1, 0]);
  expect(data).toMatchObject({ obstacle: expect.stringContaining("tests"), answer: "NOTHING TO DO: it is right." });
  expect(existsSync(join(world.repository, "one.txt"))).toBe(false);
  const id = String(data["plan_id"]);
  expect((await world.json("plan", "prompt", id, "Write right into it")).error).toBeUndefined();
  turns.continue([told(/Write right into it/, write("two.txt", "right\n")), { text: "Right." }]);
  expect((await world.json("plan", "execute", id)).error).toBeUndefined();
  expect((await world.json("plan", "apply", id, "--yes")).error).toBeUndefined();
  expect(readFileSync(join(world.repository, "two.txt"), "utf8")).toBe("right\n");
});

test("a rate limit of a minute and a half is waited for; stopped in the meantime, the plan continues later", async () => {
  const turns = new TurnList([...BEGIN, { status: 429, message: "Slow down", headers: { "retry-after": "90" } }]);
  await using server = await strictServer({ script: turns.script });
  using world = new WireWorld();
  await world.at(server);
  const words = ["run", "write two files", "--actor", ACTOR, "--automation-profile", "trusted", "--yes"];
  const { child, finished } = world.start(words, { cwd: world.repository });
  let said = "";
  child.stderr.on("data", (text: string) => (said += text));
  while (!/rate limited, again in 90 s \(2 of 10\)/.test(said) && child.exitCode === null) await sleep(20);
  child.kill("SIGINT");
  const { stderr } = await finished;
  expect(stderr).toContain("rate limited, again in 90 s (2 of 10)");
  const [, id = ""] = /agents plan execute (\w+)/.exec(stderr) ?? [];
  turns.continue(END);
  expect((await world.json("plan", "execute", id)).error).toBeUndefined();
  expect(turns.left).toBe(0);
  expect((await world.json("plan", "diff", id)).data["files"]).toMatchObject([
    { path: "one.txt" },
    { path: "two.txt" },
  ]);
});

function expectStopped({ exit_code: exit, error }: Envelope, stops: NonNullable<Mode["stops"]>): void {
  expect({ exit, code: error?.code, message: error?.message }).toMatchObject({ exit: stops.exit, code: stops.code });
  for (const words of stops.says) expect(error?.message).toMatch(words);
  expect(error?.kept ?? "").not.toBe("");
  expect(error?.suggestions.join("\n")).toMatch(/agents plan (?:execute|prompt) \w+/);
}

function planOf({ data, error }: Envelope): string {
  const [, id] = /agents plan \w+ (\w{26})/.exec(error?.suggestions.join("\n") ?? "") ?? [];
  return id ?? String(data["plan_id"]);
}
