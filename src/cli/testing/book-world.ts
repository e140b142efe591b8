/**
 * The world of the book: a user with a small shop, who has one of everything, under the names that the examples in help
 * use. So the examples are what the book shows, and an example that does not work is seen.
 */
import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { openStore } from "../../store/sqlite/open-store.ts";
import { PlanLifecycleService } from "../../plans/plan-lifecycle-service.ts";
import { git, makeRepository } from "../../testing/git-repository.ts";
import { ROOT } from "./agents.ts";
import type { BookPlace } from "./book-place.ts";
import { writing } from "./session-world.ts";
import { stepTurn, strategyTurn, turn } from "./thinking-world.ts";

/** Plans by the state that a command needs: their numbers. */
export const PLANS = {
  applied: "1",
  undone: "2",
  ready: "3",
  stopped: "4",
  waiting: "5",
  candidate: "6",
  "not started": "8",
} as const;

const REQUEST = "make the health endpoint answer 200 when the database is down";

const FILES: Readonly<Record<string, string>> = {
  "greeter.yaml": `name: greeter
type: tool
description: Writes a greeting
steps:
  - { id: write-readme, tool: write_file, params: { path: "hello.txt", content: "Hello\\n" } }
`,
  "breaker.yaml": `name: breaker
type: tool
description: Changes a line that is not there
steps:
  - { id: edit, tool: edit_file, params: { path: README, old: "no such line", new: "x" } }
`,
  "leaver.yaml": `name: leaver
type: tool
description: Says goodbye
steps:
  - { id: leave, tool: write_file, params: { path: "goodbye.txt", content: "Goodbye\\n" } }
`,
  "fix-bug.yaml": `name: fix-bug
description: Fix issue {issue}
definition_of_done: The test for issue {issue} passes
execution_actor: local/greeter
arguments:
  - { name: issue, type: integer, required: true, description: The issue's number }
`,
  "tests.yaml": `name: tests
description: The tests pass
command: npm test
`,
  "careful.yaml": `name: careful
description: Trusted, but never the shell
extends: trusted
guards: { tool_denylist: [shell_execute], max_tool_calls: 20 }
budget: { max_cost_usd: 2.5 }
`,
  "count-words.yaml": `name: count-words
description: Count the words of a file
parameters:
  type: object
  properties:
    path: { type: string, description: the file }
  required: [path]
  additionalProperties: false
command: [wc, -w, "{path}"]
writes: false
`,
  "src/session.ts": `import { decodeToken } from "./token.ts";

/** Whether the session may begin. */
export function validateSession(token: string): boolean {
  return decodeToken(token).expires > 0;
}
`,
  "src/token.ts": `export function decodeToken(text: string): { expires: number } {
  return { expires: Number(text) };
}
`,
};

const MODEL = [
  ...writing("write a note about the lake and the many birds that were seen there", "note.txt", "Birds\n"),
  ...writing("sing a song", "song.txt", "La\n"),
  ...writing(REQUEST, "health.txt", "200\n"),
  strategyTurn([{ id: "paint", description: "Paint the door", risk: 0.9, confidence: 0.2 }], {
    match: { user: "Decide how this is done: paint the door" },
  }),
  stepTurn("paint", { text: "The door is blue." }),
  turn({ text: "A lease says who works on a plan.", times: 9 }),
];

/** A repository with all definitions in it, and no data. */
export function beginBook(place: BookPlace): void {
  makeRepository(place.repository);
  // Samples, which would be copied for every command.
  rmSync(join(place.repository, ".git/hooks"), { recursive: true });
  for (const [path, text] of Object.entries(FILES)) place.write(path, text);
  for (const folder of ["skills", ".agents/skills"]) {
    cpSync(join(ROOT, "examples/skills/release-notes"), join(place.repository, folder, "release-notes"), {
      recursive: true,
    });
  }
  place.write("model.yaml", `turns:\n${MODEL.join("")}`);
  git(place.repository, "add", "--all");
  git(place.repository, "commit", "--quiet", "--message=Open the shop");
  git(place.root, "clone", "--quiet", place.repository, join(place.root, "api"));
}

/** One of everything. Returns the id of the validation's attachment. */
export async function fillBook(place: BookPlace): Promise<string> {
  const must = async (...words: string[]): Promise<string> => {
    const { code, text } = await place.run(words);
    if (code !== 0 && words[0] !== "run") throw new Error(`${words.join(" ")}: ${text}`);
    return text;
  };
  for (const actor of ["greeter", "breaker", "leaver"]) await must("actor", "add", "--config", `${actor}.yaml`);
  await must("action", "create", "--config", "fix-bug.yaml");
  await must("resource", "add", "git-checkout", "api", "--path", ".", "--branch", "main");
  await must("project", "create", "shop", "--description", "The web shop", "--resource", "api");
  await must("config", "set", "provider.scripted.transcript", join(place.repository, "model.yaml"));
  await must("config", "set", "provider.scripted.prices", "*=3/15");
  await must("automation-profile", "add", "--config", "careful.yaml");
  const profile = ["--automation-profile", "trusted"];
  await must("run", "say hello to the first visitors of the shop", "--actor", "local/greeter", ...profile, "--yes");
  await must("run", "say goodbye", "--actor", "local/leaver", ...profile, "--yes");
  await must("plan", "undo", PLANS.undone, "--yes");
  await must("run", "write a note about the lake and the many birds that were seen there", ...profile);
  await must("run", "change the line", "--actor", "local/breaker", ...profile);
  await must("run", "paint the door");
  await must("run", "sing a song", "--best-of", "2", ...profile);
  await must("plan", "use", "fix-bug", "shop", "--arg", "issue=42");
  await must("validation", "add", "--config", "tests.yaml", "--yes");
  const attached = await must("validation", "attach", "api", "tests", "--project", "shop", "--format", "json");
  await must("tool", "add", "--config", "count-words.yaml", "--yes");
  await must("skill", "add", "skills/release-notes");
  await must("mcp", "server", "add", "memory", "--yes", "--", "npx", "-y", "@modelcontextprotocol/server-memory");
  return /"attachment_id": "(\w+)"/.exec(attached)?.[1] ?? "";
}

/** A thousand plans, each with a session of its own. */
export async function crowdBook(place: BookPlace): Promise<void> {
  await using store = await openStore(`sqlite:${place.database}`);
  const service = new PlanLifecycleService({ store, user: "ann" });
  const session = { kind: "new", directory: place.repository } as const;
  for (let issue = 1; issue <= 1_000; issue += 1) {
    place.pass();
    await service.useAction({ action: "fix-bug", projects: ["shop"], arguments: { issue }, session });
  }
}
