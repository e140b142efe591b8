/**
 * Drives an agent by the Agent Client Protocol and nothing else: one session, one prompt, every permission is given.
 * An agent without us. `node agent-driver.ts WORDS PROMPT`; the words of its program are JSON.
 */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

interface Message {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: { readonly options?: readonly { readonly optionId: string; readonly kind: string }[] };
  readonly result?: { readonly sessionId?: string };
  readonly error?: unknown;
}

const [words = "[]", prompt = ""] = process.argv.slice(2);
const [program = "", ...args]: string[] = JSON.parse(words);
const agent = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"] });
const waiting = new Map<number | string, (message: Message) => void>();

createInterface({ input: agent.stdout }).on("line", (line) => {
  if (!line.startsWith("{")) return;
  const message: Message = JSON.parse(line);
  const { id, method, params } = message;
  if (id === undefined) return;
  if (method === undefined) waiting.get(id)?.(message);
  else {
    const allowed = params?.options?.find(({ kind }) => kind === "allow_once")?.optionId;
    send({ id, result: { outcome: { outcome: "selected", optionId: allowed } } });
  }
});

const home = { protocolVersion: 1, clientCapabilities: {} };
await request(1, "initialize", home);
const session = await request(2, "session/new", { cwd: process.cwd(), mcpServers: [] });
const { sessionId } = session.result ?? {};
const ended = await request(3, "session/prompt", { sessionId, prompt: [{ type: "text", text: prompt }] });
if (ended.error !== undefined) console.error(JSON.stringify(ended.error));
agent.kill("SIGKILL");
process.exitCode = ended.error === undefined ? 0 : 1;

function send(message: object): void {
  agent.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
}

function request(id: number, method: string, params: object): Promise<Message> {
  send({ id, method, params });
  return new Promise((resolve) => waiting.set(id, resolve));
}
