/**
 * `npm run demo`: three requests at once on a git repository and a plain directory. A model, scripted here, decides on
 * steps and carries them out in sandboxes. Two plans land, the third wants the same line as the first and is told so;
 * the first is undone beside everybody else's work, and then the third one fits; a fourth is stopped by its budget, and
 * the command of a fifth by what confines it. Where nothing can confine commands, that scene is left out and named.
 * Every command is the real one, in a process of its own; every promise is checked on the files, and the exit code is
 * not 0 if one is broken. Needs no network and no key, and leaves nothing behind.
 */
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { LINES, MANUAL, REACHING_OUT, REQUESTS, SHOP_CODE, TOO_DEAR, transcript, type Request } from "./demo-sample.ts";
import { Telling } from "./demo-telling.ts";
import { DemoWorld, type Finished } from "./demo-world.ts";

/** The parts of the answers for machines that are relied on. */
interface Answer {
  readonly data: {
    readonly phase?: string;
    readonly state?: string;
    readonly plans?: readonly { readonly plan_id: string; readonly short_id: string }[];
    readonly confinement?: { readonly kind: string; readonly finding: string };
    readonly files?: readonly { readonly path: string }[];
    readonly cost?: { readonly calls: number; readonly spent_usd: number };
  };
}

interface Made {
  readonly request: Request["name"];
  readonly id: string;
  /** A unique beginning of the id: what one types. */
  readonly short: string;
}

/** The exit code that a shell reports for a process that the signal ended. */
const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129, SIGPIPE: 141 } as const;

const world = await DemoWorld.make();
const telling = new Telling();

await main();

async function main(): Promise<void> {
  const stopped = Promise.withResolvers<number>();
  const onSignal = (signal: keyof typeof SIGNALS): void => stopped.resolve(SIGNALS[signal]);
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, onSignal);
  // Node gets an error where others get SIGPIPE: the reader has stopped, as in `npm run demo | head`.
  process.stdout.on("error", () => onSignal("SIGPIPE"));
  try {
    process.exitCode = await Promise.race([story(), stopped.promise]);
  } catch (error) {
    console.error(`error: ${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = 1;
  } finally {
    await world[Symbol.asyncDispose]();
  }
}

async function story(): Promise<number> {
  await openShop();
  const [round, shout, discount] = await runAll();
  await askWhy(round);
  await applyTwo(round, shout);
  await meetConflict(discount);
  await workByHand();
  await undoFirst(round);
  await applyThird(discount);
  await stopAtTheCap();
  await stayInside();
  await lookBack(round);
  telling.end();
  return telling.broken === 0 ? 0 : 1;
}

async function openShop(): Promise<void> {
  telling.chapter(
    "1. A shop",
    "Its code is in a git repository, its manual in a plain directory. The model is a script with answers for three requests, so that this needs no network and no key; with one, it could be any.",
  );
  await mkdir(join(world.directory, "shop"));
  await mkdir(join(world.directory, "manual"));
  await write("shop/shop.js", SHOP_CODE);
  await write("manual/manual.md", MANUAL);
  await write("model.yaml", transcript(world.directory));
  await world.git("init", "--quiet", "--initial-branch=main");
  await world.git("config", "user.name", "Ann");
  await world.git("config", "user.email", "ann@example.org");
  await world.git("add", "--all");
  await world.git("commit", "--quiet", "--message=Open the shop");
  await quietly("config", "set", "provider.scripted.transcript", join(world.directory, "model.yaml"));
  await quietly("config", "set", "provider.scripted.prices", "*=3/15");
  await quietly("resource", "add", "git-checkout", "code", "--path", "shop");
  await quietly("resource", "add", "fs-directory", "manual", "--path", "manual");
  await quietly("project", "create", "shop", "--resource", "code", "--resource", "manual");
}

/** How a request is made here: it continues by itself until it would be applied. */
function request(text: string, budget: string): string[] {
  return ["run", text, "--project", "shop", "--automation-profile", "trusted", "--budget", budget];
}

async function runAll(): Promise<[Made, Made, Made]> {
  const abouts = REQUESTS.map(({ text, about }) => `"${text}" ${about}`).join("; ");
  telling.chapter("2. Three requests at once", `${abouts}. Three processes, their words as they come:`);
  const before = await world.everything();
  for (const { text } of REQUESTS) telling.command(`agents run "${text}" --project shop --budget 1 &`);
  const finished = await Promise.all(
    REQUESTS.map(async ({ name, text }) => world.agents(request(text, "1"), (line) => telling.said(line, name))),
  );
  const { plans = [] } = await ask("plan", "list");
  const all = REQUESTS.map(({ name }, index): Made => {
    const id = planOf(finished[index]);
    return { request: name, id, short: plans.find((plan) => plan.plan_id === id)?.short_id ?? id };
  });
  const states = await Promise.all(all.map(stateOf));
  telling.promise(
    "all three are executed",
    finished.every(({ code }) => code === 0) && states.every((state) => state === "execute/complete"),
  );
  telling.promise("repository and directory are as they were", before === (await world.everything()));
  return all as [Made, Made, Made];
}

async function askWhy(round: Made): Promise<void> {
  telling.chapter("3. Its decisions and their cost", "Each decision names the calls and changes made for it.");
  await show("plan", "tree", round.short);
  const { cost } = await ask("plan", "status", round.id);
  await show("plan", "budget", round.short);
  // One for the strategy and two for each of its steps: 5,500 tokens in, 250 out.
  telling.promise("five calls of the model are paid for, to the cent", cost?.calls === 5 && cost.spent_usd === 0.02025);
}

async function applyTwo(round: Made, shout: Made): Promise<void> {
  telling.chapter("4. Look, then land", "The first two change the same files, but not the same lines.");
  await show("plan", "diff", round.short);
  const applied = [
    await show("plan", "apply", round.short, "--yes"),
    await show("plan", "apply", shout.short, "--yes"),
  ].every(({ code }) => code === 0);
  const states = await Promise.all([stateOf(round), stateOf(shout)]);
  telling.promise("both are applied", applied && states.every((state) => state === "apply/applied"));
  telling.promise(
    "repository and directory have the lines of both",
    (await hasLines("round")) && (await hasLines("shout")),
  );
  telling.promise("git finds the checkout clean", (await world.git("status", "--porcelain")) === "");
}

async function meetConflict(discount: Made): Promise<void> {
  telling.chapter(
    "5. A conflict",
    "The third changes the line the first has changed. Its new file for the manual would fit, but a plan lands as a whole or not at all.",
  );
  const before = await world.everything();
  const { code, stderr } = await show("plan", "apply", discount.short, "--yes");
  telling.promise(
    "the conflict is reported, with exit code 4",
    code === 4 && stderr.includes("code/shop.js") && (await stateOf(discount)) === "apply/errored",
  );
  telling.promise("nothing was touched, in neither place", before === (await world.everything()));
}

async function stopAtTheCap(): Promise<void> {
  telling.chapter(
    "9. A bill that cannot run away",
    "The highest possible cost of a call is reserved before the call is sent. A call that might pass the cap is not sent.",
  );
  const { code, stderr } = await show(...request(TOO_DEAR, "0.01"));
  const { cost } = await ask("plan", "status", planOf({ code, stderr, stdout: "" }));
  telling.promise(
    "it was stopped before anything was spent",
    code !== 0 && stderr.includes("$0.01") && cost?.calls === 0 && cost.spent_usd === 0,
  );
}

async function workByHand(): Promise<void> {
  telling.chapter(
    "6. A person works there too",
    "Ann changes the phone number and commits it, edits the manual, and has begun a file that she has not committed.",
  );
  await write("shop/shop.js", (await world.read("shop/shop.js")).replace("555-0100", "555-0199"));
  await write("manual/manual.md", (await world.read("manual/manual.md")).replace("at any time", "before noon"));
  await write("shop/todo.txt", "ask Bob\n");
  telling.command('git -C shop commit -m "Change the phone number" shop.js');
  telling.said(await world.git("commit", "-m", "Change the phone number", "shop.js"));
}

async function undoFirst(round: Made): Promise<void> {
  telling.chapter(
    "7. Undo beside the others",
    "The first plan is taken out again, from files that others have changed since.",
  );
  const { code } = await show("plan", "undo", round.short, "--yes");
  telling.command("cat shop/shop.js manual/manual.md");
  telling.said((await world.read("shop/shop.js")) + (await world.read("manual/manual.md")));
  telling.promise("the lines of the first plan are gone", code === 0 && !(await hasAnyLine("round")));
  telling.promise("the lines of the second are still there", await hasLines("shout"));
  telling.promise(
    "so is Ann's work, committed or not",
    (await hasLines("person")) &&
      (await hasLine("shop/todo.txt", "ask Bob")) &&
      (await world.git("status", "--porcelain")) === "?? todo.txt\n",
  );
}

async function applyThird(discount: Made): Promise<void> {
  telling.chapter("8. The third fits now", "Nothing it did was lost when it had to wait.");
  const { code } = await show("plan", "apply", discount.short, "--yes");
  telling.promise("it is applied", code === 0 && (await stateOf(discount)) === "apply/applied");
  telling.promise(
    "everybody's lines are there, in both places",
    (await hasLines("discount")) && (await hasLines("shout")) && (await hasLines("person")),
  );
}

async function stayInside(): Promise<void> {
  const title = "10. A command that reaches out";
  const { confinement } = await ask("init");
  if (confinement?.kind === "none") {
    telling.leaveOut(
      title,
      `this scene runs a command that tries to change files outside of its sandbox, and nothing here can confine it (${confinement.finding}).`,
    );
    return;
  }
  telling.chapter(
    title,
    "Besides a file in its sandbox, the command of this plan writes to Ann's shop.js and beside the shop.",
  );
  const before = await world.everything();
  const { code, stderr } = await show(...request(REACHING_OUT, "1"));
  const { files = [] } = await ask("plan", "diff", planOf({ code, stderr, stdout: "" }));
  const changed = files.map(({ path }) => path).join();
  telling.promise("it ran, and its file is in the sandbox", code === 0 && changed === "tidy.txt");
  const outside = existsSync(join(world.directory, "outside.txt"));
  telling.promise("nothing else was changed", !outside && before === (await world.everything()));
}

async function lookBack(round: Made): Promise<void> {
  telling.chapter("11. The history", "Each plan is one commit, which says what plan and decisions it is of.");
  telling.command("git -C shop log --oneline --graph");
  telling.said(await world.git("log", "--oneline", "--graph"));
  const subjects = (await world.git("log", "--reverse", "--format=%s")).trimEnd().split("\n");
  const expected = [
    "Open the shop",
    "Round prices",
    "Shout titles",
    "Change the phone number",
    "Undo: Round prices",
    "Give a discount",
  ];
  telling.promise("the log has one commit for each, and no other", subjects.join("\n") === expected.join("\n"));
  telling.command("git -C shop log -1 --format=%B HEAD~4");
  const message = await world.git("log", "-1", "--format=%B", "HEAD~4");
  telling.said(message);
  telling.promise("the commit names its plan", message.includes(`CleverAgents-Plan: ${round.id}\n`));
  const { code } = await show("audit", "verify");
  telling.promise("the entries of the audit log are unchanged", code === 0);
}

/** The plan a run made: it says so first. */
function planOf(finished: Finished | undefined): string {
  const [, id] = /^plan (\w+) of /m.exec(finished?.stderr ?? "") ?? [];
  if (id === undefined) throw new Error("A request made no plan.");
  return id;
}

async function write(path: string, text: string): Promise<void> {
  await writeFile(join(world.directory, path), text);
}

/** Runs a command and shows all it says, with the temporary directory left out of paths. */
async function show(...args: readonly string[]): Promise<Finished> {
  telling.command(`agents ${args.join(" ")}`);
  const finished = await world.agents(args);
  telling.said((finished.stderr + finished.stdout).replaceAll(world.directory, "…"));
  return finished;
}

/** For commands that only prepare: shown without what they say, unless they fail. */
async function quietly(...args: readonly string[]): Promise<void> {
  telling.command(`agents ${args.join(" ")}`);
  const { code, stderr } = await world.agents(args);
  if (code !== 0) throw new Error(`agents ${args.join(" ")} failed: ${stderr}`);
}

/** Asks the way a program does. */
async function ask(...args: readonly string[]): Promise<Answer["data"]> {
  const { stdout, stderr } = await world.agents([...args, "--format", "json"]);
  if (stdout === "") throw new Error(`agents ${args.join(" ")} gave no answer: ${stderr}`);
  const answer: Answer = JSON.parse(stdout);
  return answer.data;
}

async function stateOf({ id }: Made): Promise<string> {
  const { phase, state } = await ask("plan", "status", id);
  return `${phase}/${state}`;
}

async function hasLines(whose: keyof typeof LINES): Promise<boolean> {
  return (await presence(whose)).every((present) => present);
}

async function hasAnyLine(whose: keyof typeof LINES): Promise<boolean> {
  return (await presence(whose)).some((present) => present);
}

/** Whether the line that a person left in the code is there, and the one in the manual. */
async function presence(whose: keyof typeof LINES): Promise<boolean[]> {
  const { code, manual } = LINES[whose];
  const page = whose === "discount" ? "manual/discount.md" : "manual/manual.md";
  return [await hasLine("shop/shop.js", code), await hasLine(page, manual)];
}

async function hasLine(path: string, line: string): Promise<boolean> {
  return existsSync(join(world.directory, path)) && (await world.read(path)).split("\n").includes(line);
}
