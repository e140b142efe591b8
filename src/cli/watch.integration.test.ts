/** The inbox on a real terminal: plans are applied, cancelled, answered and undone by keys while others work. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { git, makeRepository } from "../testing/git-repository.ts";
import { Agents, type Envelope, type Started } from "./testing/agents.ts";
import { forbiddenIn, withoutOwnCodes } from "./testing/hidden-characters.ts";
import { noTerminal, Person } from "./testing/pseudo-terminal.ts";
import { SpeakingServer } from "./testing/speaking-server.ts";

const TERMINAL = { columns: 120, rows: 30 };
const ENTER_SCREEN = "\u001b[?1049h";
const LEAVE_SCREEN = "\u001b[?25h\u001b[?1049l";
const reason = noTerminal();
if (reason !== undefined) console.log(`skipped: ${reason}`);

/** A repository, and a model that writes the file which a request names; at "slow" it never answers. */
class InboxWorld extends Agents implements AsyncDisposable {
  readonly repository: string = makeRepository(join(this.directory, "shop"));
  readonly #started: Started[] = [];
  readonly #server = new SpeakingServer(({ user, results }, response) => {
    const [, path = "note.txt"] = /write (\S+)/.exec(user) ?? [];
    const risk = path.startsWith("risky") ? 0.9 : 0.1;
    const doubt = risk === 0.1 ? { confidence: 0.9 } : { confidence: 0.2, alternatives: ["Do nothing"] };
    const step = { id: "note", description: `write ${path}`, risk, ...doubt };
    if (user.includes("Decide how")) return { call: { tool: "record_strategy", parameters: { steps: [step] } } };
    const written = results.includes("write_file");
    if (written && path.startsWith("slow")) {
      response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
      return undefined;
    }
    if (written) return { text: `${path} is \u001b[2J written.` };
    return { call: { tool: "write_file", parameters: { path, content: `${user.length}\n` } } };
  });

  async listen(): Promise<this> {
    await this.json("config", "set", "provider.house.base-url", await this.#server.listen());
    return this;
  }

  /** A plan that is ready to review. */
  async plan(path: string, profile = "trusted"): Promise<string> {
    const { data } = await this.said("run", `write ${path}`, "--actor", "house/m", "--automation-profile", profile);
    return String(data["plan_id"]);
  }

  /** In a process of its own, which does not end. */
  async working(path: string): Promise<void> {
    const words = ["run", `write ${path}`, "--actor", "house/m", "--automation-profile", "trusted"];
    this.#started.push(this.start(words, { cwd: this.repository }));
    while ((await this.standings())[`write ${path}`] !== "working:1")
      await new Promise((done) => setTimeout(done, 200));
  }

  async said(...words: string[]): Promise<Envelope> {
    const { stdout } = await this.run([...words, "--format", "json"], { cwd: this.repository });
    return JSON.parse(stdout) as Envelope;
  }

  /** By request: where the plan stands and how many files it changed. */
  async standings(): Promise<Record<string, string>> {
    const { plans } = (await this.said("plan", "list")).data as { readonly plans: readonly Record<string, unknown>[] };
    return Object.fromEntries(
      plans.map((plan) => [plan["request"], `${String(plan["standing"])}:${String(plan["changed_files"])}`]),
    );
  }

  person(env: NodeJS.ProcessEnv = {}, words: readonly string[] = []): Person {
    return new Person(this.start(["watch", ...words], { cwd: this.repository, terminal: TERMINAL, env }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { child } of this.#started) child.kill("SIGKILL");
    await Promise.all(this.#started.map(({ finished }) => finished));
    await this.#server[Symbol.asyncDispose]();
    this[Symbol.dispose]();
  }
}

test("without a terminal the list is printed once, by group, with what each plan needs", async () => {
  await using world = await new InboxWorld().listen();
  await world.plan("done.txt");
  await world.plan("asks.txt", "manual");
  const { stdout } = await world.run(["watch"], { cwd: world.repository });
  expect(stdout).toMatch(
    /2\s+write asks.txt\s+waiting for you\s+\S.*\n1\s+write done.txt\s+ready to review\s+a review of 1 file/,
  );
  expect(stdout).toContain("There is no terminal to draw on, so the list is printed once.");
  expect((await world.run(["watch", "--once"], { cwd: world.repository })).stdout).not.toContain("no terminal");
  expect(await world.said("watch")).toMatchObject({
    command: "watch",
    exit_code: 0,
    data: {
      plans: [
        { number: 2, group: "needs you", here: true },
        { number: 1, group: "ready to review" },
      ],
    },
  });
});

describe.skipIf(reason !== undefined)("on a terminal", () => {
  test("one plan is applied and another cancelled while a third works; it works on when the inbox is left", async () => {
    await using world = await new InboxWorld().listen();
    await world.plan("one.txt");
    await world.plan("two.txt");
    await world.working("slow.txt");
    const person = world.person();
    // It is drawn last.
    await person.sees("write one.txt");
    // The working plan comes first, then those to review, the newest first.
    expect(person.seen).toMatch(/Working[\s\S]*slow\.txt[\s\S]*Ready to review[\s\S]*two\.txt[\s\S]*one\.txt/);
    person.type("jja");
    await person.sees("Apply 1 file (+1 −0)? [y/N] ");
    person.type("y\r");
    await person.sees("is applied: 1 file (+1 −0)");
    expect(existsSync(join(world.repository, "one.txt"))).toBe(true);
    person.type("kc");
    await person.sees("Cancel plan");
    person.type("y\r");
    await person.sees("everything it recorded is kept");
    person.type("q");
    expect(await person.end()).toBe(0);
    expect(person.seen.trimEnd().endsWith(LEAVE_SCREEN)).toBe(true);
    expect(await world.standings()).toEqual({
      "write one.txt": "applied:1",
      "write two.txt": "cancelled:1",
      "write slow.txt": "working:1",
    });
    expect(forbiddenIn(person.seen)).toEqual([]);
  });

  test("a yes to what has changed meanwhile is refused, and keys typed ahead approve nothing", async () => {
    await using world = await new InboxWorld().listen();
    const id = await world.plan("one.txt");
    const person = world.person();
    await person.sees("write one.txt");
    // The first yes with the key, a second one while the question is prepared.
    person.type("ay\r");
    await person.sees(LEAVE_SCREEN);
    person.type("y\r");
    await person.sees("Apply 1 file (+1 −0)? [y/N] ");
    await world.said("plan", "prompt", id, "write it again");
    person.type("y\r");
    await person.sees("has changed in the meantime");
    person.type("q");
    expect(await person.end()).toBe(0);
    expect(existsSync(join(world.repository, "one.txt"))).toBe(false);
  });

  test("a question is answered, a diff read, an applied plan undone, and what others do is seen", async () => {
    await using world = await new InboxWorld().listen();
    const id = await world.plan("one.txt");
    const person = world.person();
    await person.sees("a review of 1 file");
    person.type("\r");
    await person.sees("one.txt is <U+001B>[2J written.");
    person.type("d");
    await person.sees("Enter goes back to the inbox > ");
    expect(person.seen).toContain("+++ b/one.txt");
    const read = person.seen.length;
    person.type("\r");
    await person.sees("esc back", read);
    person.type("\u001b");
    await world.said("plan", "apply", id, "--yes");
    await person.sees("Done");
    person.type("u");
    await person.sees("Undo these changes? [y/N] ");
    person.type("y\r");
    await person.sees("next: agents plan redo");
    expect(git(world.repository, "status", "--porcelain")).toBe("");
    expect(existsSync(join(world.repository, "one.txt"))).toBe(false);
    await world.plan("risky.txt", "manual");
    await person.sees("Needs you");
    person.type("kr");
    await person.sees("a number, or what to do instead > ");
    person.type("1\r");
    await person.sees("can continue.");
    person.type("x");
    await person.sees("In another terminal: agents plan resume 2");
    person.type("\u0003");
    expect(await person.end()).toBe(0);
    expect(forbiddenIn(person.seen)).toEqual([]);
  });

  test("the terminal is given back at SIGTERM and after an error; colors only where they are wanted", async () => {
    await using world = await new InboxWorld().listen();
    await world.plan("one.txt");
    const started = world.start(["watch"], { cwd: world.repository, terminal: TERMINAL, env: { NO_COLOR: "1" } });
    const person = new Person(started);
    await person.sees("write one.txt");
    // `script` has one child, the program.
    const script = started.child.pid ?? 0;
    process.kill(Number(readFileSync(`/proc/${script}/task/${script}/children`, "utf8")), "SIGTERM");
    await person.end();
    expect(person.seen).toContain(ENTER_SCREEN);
    expect(person.seen).toContain(LEAVE_SCREEN);
    expect(withoutOwnCodes(person.seen)).not.toContain("\u001b");
    expect(person.seen).not.toMatch(/\[[\d;]*m/);
    const trouble = world.write("trouble.mjs", `setTimeout(() => { throw new Error("no luck") }, 2500);`);
    const unlucky = world.person({ NODE_OPTIONS: `--import=${trouble}` });
    expect(await unlucky.end()).toBe(1);
    expect(unlucky.seen.split(LEAVE_SCREEN)).toEqual([
      expect.stringContaining(ENTER_SCREEN),
      expect.stringContaining("Something unexpected went wrong: no luck"),
    ]);
    const dumb = world.person({ TERM: "dumb" });
    expect(await dumb.end()).toBe(0);
    expect(dumb.seen).not.toContain("\u001b");
    expect(dumb.seen).toContain("write one.txt");
  });
});
