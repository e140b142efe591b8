/**
 * The cost of our promises for an agent of another maker: the same agent with the same scripted model, driven by its
 * protocol alone in the user's repository, and in a plan of ours that is carried out, checked and applied.
 */
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { installedAgents, knownProgram, requireAgent } from "../src/actors/outside/installed-agents.ts";
import { SMALL_AGENT } from "../src/app/testing/small-agent.ts";
import { confinementHere } from "../src/confinement/availability.ts";
import { knownAgentActor } from "../src/domain/actor/known-agents.ts";
import type { AgentName } from "../src/domain/names/agent-names.ts";
import { billOf } from "./agent-bill.ts";
import type { Command, Contestant, Place } from "./agent-contestants.ts";
import type { ScriptedModel, Speech, ToolCall } from "./agent-model.ts";
import { command, prepared } from "./agent-ours.ts";
import { PEERS } from "./agent-peers.ts";
import { wholeRun, type Outcome, type Seat } from "./agent-run.ts";
import { TWO_FILES, type Action, type Task } from "./agent-tasks.ts";
import { grouped, met, summarize, table } from "./measure.ts";

const TIME_AIM = 1.15;
const TOKENS_AIM = 1;
/** The time a model takes for an answer; none at all shows what is ours. */
const THINKING_MS = [2_000, 0] as const;
/** Those of `npm run conformance`. */
const CACHE = join(tmpdir(), "cleveragents-conformance");
const AGENTS = [
  { agent: "codex", model: "gpt-5.5", wire: "responses" },
  { agent: "pi", model: "gpt-4.1", wire: "chat" },
] as const satisfies readonly {
  readonly agent: AgentName;
  readonly model: string;
  readonly wire: Contestant["wire"];
}[];

/** One agent, without and with us. */
type Pair = readonly [alone: Contestant, inPlan: Contestant];

export interface OutsideOptions {
  readonly model: ScriptedModel;
  /** Counted rounds; one comes before them. */
  readonly rounds: number;
  /** Only an agent of our own, which needs no installation. */
  readonly small: boolean;
  readonly seated: (contestants: readonly Contestant[]) => Promise<readonly Seat[]>;
}

export async function measureOutside({ model, rounds, small, seated }: OutsideOptions): Promise<void> {
  if ((await confinementHere()).kind === "none") {
    console.log("\nagents of other makers are left out: nothing here confines them");
    return;
  }
  const pairs: readonly Pair[] = small ? [smallPair()] : AGENTS.map(knownPair).filter((pair) => pair !== undefined);
  const thinking = small ? [0] : THINKING_MS;
  for (const pair of pairs) {
    const seats = await seated(pair);
    for (const thinkMs of thinking)
      tell(pair[0].name, thinkMs, await inTurn(seats, TWO_FILES, { model, rounds, thinkMs }));
  }
}

async function inTurn(
  seats: readonly Seat[],
  task: Task,
  { model, rounds, thinkMs }: { model: ScriptedModel; rounds: number; thinkMs: number },
): Promise<readonly Outcome[][]> {
  const outcomes: Outcome[][] = seats.map(() => []);
  for (let round = 0; round <= rounds; round += 1) {
    const order = [...seats.entries()];
    for (const [index, seat] of round % 2 === 0 ? order : order.toReversed()) {
      const outcome = await wholeRun(seat, task, model, thinkMs);
      if (!outcome.done)
        throw new Error(
          `${seat.contestant.name} did not do "${task.name}" (${outcome.code}): ${outcome.said.slice(-2_000)}`,
        );
      outcomes[index]?.push(outcome);
    }
  }
  return outcomes.map((all) => (all.length > 1 ? all.slice(1) : all));
}

function tell(name: string, thinkMs: number, [alone = [], inPlan = []]: readonly Outcome[][]): void {
  const tokens = (all: readonly Outcome[]): number => billOf(all.at(-1)?.exchanges ?? []).input;
  const requests = (all: readonly Outcome[]): number => all.at(-1)?.exchanges.length ?? 0;
  const seconds = (all: readonly Outcome[]): number => summarize(all.map((one) => one.seconds)).median;
  const processor = (all: readonly Outcome[]): number => summarize(all.map((one) => one.processorSeconds)).median;
  // Of the two runs of one round, which met the same load.
  const times = summarize(inPlan.map((one, round) => one.seconds / (alone[round]?.seconds ?? Number.NaN)));
  console.log(`\n${name}, without and with us; the model takes ${thinkMs / 1_000} s for an answer`);
  console.log(
    table([
      ["", "requests", "tokens in", "seconds", "processor"],
      ...(
        [
          ["alone", alone],
          ["in a plan", inPlan],
        ] as const
      ).map(([how, all]) => [
        how,
        String(requests(all)),
        grouped(tokens(all)),
        seconds(all).toFixed(2),
        processor(all).toFixed(2),
      ]),
    ]),
  );
  const more = tokens(inPlan) / tokens(alone);
  const range = `${times.lowest.toFixed(2)} – ${times.highest.toFixed(2)}`;
  console.log(`time: ${times.median.toFixed(2)}× (${range}); aim ≤ ${TIME_AIM}×: ${met(times.median <= TIME_AIM)}`);
  console.log(`tokens in: ${more.toFixed(2)}×; aim ≤ ${TOKENS_AIM}×: ${met(more <= TOKENS_AIM)}`);
}

function knownPair({ agent, model, wire }: (typeof AGENTS)[number]): Pair | undefined {
  const cached = existsSync(CACHE) ? readdirSync(CACHE).filter((name) => name.startsWith(agent)) : [];
  const programs = cached.map((name) => join(CACHE, name, "node_modules", ".bin"));
  const PATH = [dirname(process.execPath), process.env["PATH"] ?? "", ...programs].join(delimiter);
  const sources = { settings: new Map<string, string>(), environment: { ...process.env, PATH } };
  const found = installedAgents(sources).find((one) => one.agent === agent);
  const peer = PEERS.find(({ name }) => name === agent);
  if (found === undefined || peer === undefined) {
    console.log(`${agent} is left out: \`npm run conformance -- ${agent}\` installs it`);
    return undefined;
  }
  const installed = peer.contestant(join(CACHE, cached.at(-1) ?? ""));
  const actor = knownAgentActor(agent);
  const program = ({ home, url }: Place): ReturnType<typeof knownProgram>["program"] =>
    knownProgram(requireAgent(actor, sources), actor, {
      asks: false,
      values: { url, token: "a-key", model, home },
      environment: sources.environment,
    }).program;
  const shared = { version: installed.version, wire, resume: () => [], speech: installed.speech };
  const alone: Contestant = {
    ...shared,
    name: agent,
    prepare: async (place) => {
      for (const [path, text] of Object.entries(program(place).files)) {
        mkdirSync(dirname(join(place.home, path)), { recursive: true });
        writeFileSync(join(place.home, path), text);
      }
    },
    start: (place, request) => driven(program(place), request),
  };
  const inPlan: Contestant = {
    ...shared,
    name: `${agent} in a plan`,
    prepare: async (place) =>
      prepared(place, { [`acp.${agent}.model`]: `openai/${model}`, "provider.openai.prices": "*=3/15" }),
    start: (place, request) => withPath(inAPlan(place, `acp/${agent}`, request), PATH),
  };
  return [alone, inPlan];
}

function driven(
  program: { readonly command: readonly string[]; readonly environment: Command["env"] },
  request: string,
): Command {
  const driver = join(import.meta.dirname, "agent-driver.ts");
  return { words: [process.execPath, driver, JSON.stringify(program.command), request], env: program.environment };
}

function inAPlan(place: Place, actor: string, request: string): Command {
  return command(place, "run", request, "--yes", "--actor", actor, "--automation-profile", "trusted");
}

function withPath({ words, env }: Command, PATH: string): Command {
  return { words, env: { ...env, PATH } };
}

/** An agent of our own that runs once for each prompt. */
function smallPair(): Pair {
  const program = ({ home }: Place): string => join(home, "small-agent.mjs");
  const variables = (url: string, token: string): Command["env"] => ({
    GATEWAY: url,
    TOKEN: token,
    MODEL: "gpt-4.1",
    DIALECT: "chat",
    HABITS: "stream",
  });
  const shared = { version: "of our own", wire: "chat", resume: () => [], speech: () => SHELL } as const;
  const alone: Contestant = {
    ...shared,
    name: "a small agent",
    prepare: async (place) => writeFileSync(program(place), SMALL_AGENT),
    start: (place, request) => ({
      words: [process.execPath, program(place), request],
      env: variables(place.url, "a-key"),
    }),
  };
  const inPlan: Contestant = {
    ...shared,
    name: "a small agent in a plan",
    prepare: async (place) => {
      writeFileSync(program(place), SMALL_AGENT);
      const words = [process.execPath, program(place), "{prompt}"];
      const env = variables("{gateway}", "{token}");
      const actor = {
        name: "local/small",
        type: "acp",
        description: "A small agent",
        run: words,
        env,
        endpoint: "openai-chat",
        model: "openai/gpt-4.1",
      };
      prepared(place, { "provider.openai.prices": "*=3/15" }, actor);
    },
    start: (place, request) => inAPlan(place, "local/small", request),
  };
  return [alone, inPlan];
}

const SHELL: Speech = {
  callFor: (action): ToolCall => ({ name: "bash", input: { command: shellFor(action) } }),
  isFailure: (result) => result.startsWith("Command failed"),
};

function shellFor(action: Action): string {
  switch (action.does) {
    case "read":
    case "list":
      return `cat ${action.path}`;
    case "search":
      return `grep -rnE '${action.pattern}' ${action.in}`;
    case "run":
      return action.command;
    case "edit": {
      const [old, replacement] = [action.old, action.new].map((text) => JSON.stringify(text));
      const before = `fs.readFileSync("${action.path}", "utf8")`;
      const script = `fs.writeFileSync("${action.path}", ${before}.replace(${old}, () => ${replacement}))`;
      return `node -e '${script}'`;
    }
  }
}
