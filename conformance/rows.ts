/** The rows of the conformance table. Each starts the agent anew. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { AgentSurroundings, TurnEnd } from "../src/actors/outside/agent-port.ts";
import { outsideAgents } from "../src/actors/outside/outside-agents.ts";
import { PlainPlace } from "../src/actors/outside/testing/plain-start.ts";
import { knownAgentActor } from "../src/domain/actor/known-agents.ts";
import type { AgentName } from "../src/domain/names/agent-names.ts";
import { AGENT_TOOLS } from "./agent-tools.ts";
import { modelServer, type ModelQuestion, type ModelSaid, type ModelServer } from "./model-server.ts";
import { namesLookedUp } from "./names-row.ts";
import { endAllAt } from "./processes.ts";
import { PLAN_ROWS } from "./plan-rows.ts";
import type { Tried } from "./plan-world.ts";
import type { Row, Verdict } from "./verdict.ts";

const TURN_MS = 90_000;
const LATE_MS = 15_000;

export const ROWS: readonly Row[] = [
  { name: "two files and a command", test: twoFiles },
  { name: "parallel calls", test: parallelCalls },
  { name: "permission is asked", test: asksPermission },
  { name: "sub-agents and web are off", test: switchedOff },
  { name: "cancel while a command runs", test: cancels },
  { name: "a refused question ends it", test: refused },
  ...PLAN_ROWS,
  { name: "host names looked up", test: namesLookedUp },
];

interface Situation {
  readonly place: PlainPlace;
  readonly server: ModelServer;
  readonly turn: (signal?: AbortSignal) => Promise<TurnEnd>;
}

type Script = (question: ModelQuestion, place: PlainPlace) => ModelSaid;

/** Opens the agent with a model that answers as the script says. */
async function situated<T>(
  { agent, sources }: Tried,
  script: Script,
  use: (situation: Situation) => Promise<T>,
  more: Partial<AgentSurroundings> = {},
): Promise<T> {
  using place = new PlainPlace();
  // Titles and the like are asked for without tools.
  await using server = await modelServer((question) =>
    question.tools.length === 0 ? { text: "A title" } : script(question, place),
  );
  const gateway = { url: server.url, token: "token-of-the-run", model: "m" };
  const open = outsideAgents(sources);
  try {
    await using opened = await open(place.surroundings(knownAgentActor(agent), gateway, more));
    return await use({
      place,
      server,
      turn: (signal = AbortSignal.timeout(TURN_MS)) => opened.turn("Do what is to be done.", signal),
    });
  } finally {
    // Without its confinement, commands of some agents survive them.
    endAllAt(place.root);
  }
}

function contentOf(place: PlainPlace, name: string): string | undefined {
  const path = join(place.cwd, name);
  return existsSync(path) ? readFileSync(path, "utf8") : undefined;
}

async function twoFiles(tried: Tried): Promise<Verdict> {
  const { run, write } = AGENT_TOOLS[tried.agent];
  const script: Script = ({ answered }, { cwd }) => {
    if (answered === 0) return { calls: [write(join(cwd, "a.txt"), "one\n")] };
    if (answered === 1) return { calls: [write(join(cwd, "b.txt"), "two\n")] };
    return answered === 2 ? { calls: [run("cat a.txt b.txt")] } : { text: "All done." };
  };
  return situated(tried, script, async ({ place, server, turn }) => {
    const end = await turn();
    if (end.reason !== "done" || !end.text.endsWith("All done.")) return { failed: JSON.stringify(end).slice(0, 300) };
    if (contentOf(place, "a.txt") !== "one\n" || contentOf(place, "b.txt") !== "two\n")
      return { failed: "the files are not there" };
    const seen = server.questions.at(-1)?.text ?? "";
    if (!/one\\+ntwo/.test(seen)) return { failed: "the output of the command did not reach the model" };
    return { passed: `${server.questions.length} questions` };
  });
}

async function parallelCalls(tried: Tried): Promise<Verdict> {
  const { write } = AGENT_TOOLS[tried.agent];
  const script: Script = ({ answered }, { cwd }) =>
    answered === 0
      ? { calls: ["a", "b", "c"].map((name) => write(join(cwd, `${name}.txt`), name)) }
      : { text: "All done." };
  return situated(tried, script, async ({ place, turn }) => {
    const end = await turn();
    const missing = ["a", "b", "c"].filter((name) => contentOf(place, `${name}.txt`) !== name);
    if (end.reason !== "done" || missing.length > 0) return { failed: `${end.reason}, missing: ${missing.join(", ")}` };
    return { passed: "three calls of one answer" };
  });
}

/** Agents that never ask; their calls are guarded at the gateway. */
const NEVER_ASK: readonly AgentName[] = ["codex", "pi"];

async function asksPermission(tried: Tried): Promise<Verdict> {
  if (NEVER_ASK.includes(tried.agent)) return { skipped: "it never asks; guards act at the gateway" };
  const { run, write } = AGENT_TOOLS[tried.agent];
  const script: Script = ({ answered }, { cwd }) =>
    answered === 0
      ? { calls: [write(join(cwd, "a.txt"), "one\n")] }
      : answered === 1
        ? { calls: [run("touch b.txt")] }
        : { text: "All done." };
  const check = async ({ place, turn }: Situation): Promise<Verdict> => {
    place.listener.answer = "reject";
    await turn();
    const tools = place.listener.permissions.map(({ tool }) => tool);
    if (!tools.includes("write_file")) return { failed: `asked for ${tools.join(", ") || "nothing"}` };
    const made = ["a.txt", "b.txt"].filter((name) => contentOf(place, name) !== undefined);
    return made.length === 0 ? { passed: tools.join(", ") } : { failed: `made ${made.join(", ")} although refused` };
  };
  return situated(tried, script, check, { asks: true });
}

async function switchedOff(tried: Tried): Promise<Verdict> {
  const { sub } = AGENT_TOOLS[tried.agent];
  return situated(
    tried,
    () => ({ text: "All done." }),
    async ({ server, turn }) => {
      await turn();
      const offered = server.questions.flatMap(({ tools }) => tools);
      const wrong = [...new Set(offered)].filter((name) => sub.includes(name) || /web_?(?:search|fetch)/i.test(name));
      if (wrong.length > 0) return { failed: `it offers ${wrong.join(", ")}` };
      return { passed: `${new Set(offered).size} tools` };
    },
  );
}

async function cancels(tried: Tried): Promise<Verdict> {
  const { run } = AGENT_TOOLS[tried.agent];
  return situated(
    tried,
    () => ({ calls: [run("touch begun; sleep 60; touch late")] }),
    async ({ place, turn }) => {
      const stop = new AbortController();
      const ending = turn(stop.signal);
      const deadline = Date.now() + TURN_MS;
      while (contentOf(place, "begun") === undefined) {
        if (Date.now() > deadline) return { failed: "the command did not begin" };
        await new Promise((done) => setTimeout(done, 50));
      }
      const at = Date.now();
      stop.abort();
      const { reason } = await ending;
      const took = Date.now() - at;
      return reason === "cancelled" && took < LATE_MS ? { passed: `${took} ms` } : { failed: `${reason}, ${took} ms` };
    },
  );
}

/** Most agents end after one refusal; some try a few times. */
const MOST_TRIES = 12;

async function refused(tried: Tried): Promise<Verdict> {
  return situated(
    tried,
    () => ({ status: 402, message: "The budget of this run is used up." }),
    async ({ server, turn }) => {
      const { reason } = await turn();
      const asked = server.questions.length;
      return asked <= MOST_TRIES && reason !== "cancelled"
        ? { passed: `${reason} after ${asked} questions` }
        : { failed: `${reason} after ${asked} questions` };
    },
  );
}
