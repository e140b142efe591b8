/** Within namespaces of its own: a name server that knows no name, and one turn of the agent. */
import { createSocket } from "node:dgram";
import { join } from "node:path";
import { outsideAgents } from "../src/actors/outside/outside-agents.ts";
import { PlainPlace } from "../src/actors/outside/testing/plain-start.ts";
import { knownAgentActor } from "../src/domain/actor/known-agents.ts";
import { isAgentName } from "../src/domain/names/agent-names.ts";
import { AGENT_TOOLS } from "./agent-tools.ts";
import { modelServer } from "./model-server.ts";
import { NAMES_MARK } from "./names-row.ts";

const TURN_MS = 90_000;
/** Telemetry comes late. */
const AFTER_MS = 3_000;
const NO_SUCH_NAME = 0x8183;

const agent = process.argv[2] ?? "";
if (!isAgentName(agent)) throw new Error(`"${agent}" is not an agent`);
const names = new Set<string>();
const socket = createSocket("udp4");
socket.on("message", (question, from) => {
  names.add(nameIn(question));
  const answer = Buffer.from(question);
  answer.writeUInt16BE(NO_SUCH_NAME, 2);
  // No more than the question comes back.
  answer.fill(0, 6, 12);
  socket.send(answer.subarray(0, questionEnd(question)), from.port, from.address);
});
await new Promise<void>((ready) => socket.bind(53, "127.0.0.1", ready));

const place = new PlainPlace();
const { run, write } = AGENT_TOOLS[agent];
const server = await modelServer(({ tools, answered }) => {
  if (tools.length === 0) return { text: "A title" };
  if (answered === 0) return { calls: [write(join(place.cwd, "a.txt"), "one\n")] };
  return answered === 1 ? { calls: [run("cat a.txt")] } : { text: "All done." };
});
const gateway = { url: server.url, token: "token-of-the-run", model: "m" };
const open = outsideAgents({ settings: new Map(), environment: process.env });
const opened = await open(place.surroundings(knownAgentActor(agent), gateway));
const end = await opened.turn("Do what is to be done.", AbortSignal.timeout(TURN_MS));
await new Promise((done) => setTimeout(done, AFTER_MS));
await opened[Symbol.asyncDispose]();
place[Symbol.dispose]();
if (end.reason !== "done") throw new Error(`the turn ended: ${JSON.stringify(end).slice(0, 300)}`);
console.log(`${NAMES_MARK} ${[...names].toSorted().join(" ")}`);
// Everything that it left ends with this process.
process.exit(0);

function nameIn(question: Buffer): string {
  const labels: string[] = [];
  for (let at = 12; (question[at] ?? 0) > 0; at += (question[at] ?? 0) + 1)
    labels.push(question.toString("latin1", at + 1, at + 1 + (question[at] ?? 0)));
  return labels.join(".").toLowerCase();
}

function questionEnd(question: Buffer): number {
  let at = 12;
  while ((question[at] ?? 0) > 0) at += (question[at] ?? 0) + 1;
  return at + 5;
}
