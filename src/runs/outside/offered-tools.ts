/**
 * Tools of ours that an outside agent is offered by MCP, at its gateway. Only tools that leave the plan's files alone:
 * the agent has the files to itself. A call goes through the tool pipeline for the answer that is carried out, and is
 * recorded under its round and its input: where the answer is given again, so is the outcome.
 */
import { hash } from "node:crypto";
import type { ServedTools } from "../../actors/mcp/serve-tools.ts";
import type { ModelTool } from "../../actors/models/model.ts";
import type { JsonObject } from "../../domain/values/json.ts";
import type { AgentRounds } from "./agent-rounds.ts";
import type { RoundEffects } from "./round-effects.ts";
import type { Round } from "./round-recorder.ts";

/** Of tools that are not of a server of the user's. Agents put the name of the server in front. */
const OUR_SERVER = "cleveragents";
/** `mcp__server__tool`: offered as `tool` of `server`, because names with both in front are too long for models. */
const OF_SERVER = /^mcp__([A-Za-z0-9-]+(?:_[A-Za-z0-9-]+)*)__(.+)$/;

interface Offered {
  readonly server: string;
  readonly bare: string;
  readonly tool: ModelTool;
}

export class OfferedTools {
  readonly #effects: RoundEffects;
  readonly #offered: readonly Offered[];
  /** By every name under which agents call it. */
  readonly #names = new Map<string, string>();
  readonly #made = new Map<string, number>();

  constructor(tools: readonly ModelTool[], effects: RoundEffects) {
    this.#effects = effects;
    this.#offered = tools.map((tool) => {
      const [, server = OUR_SERVER, bare = tool.name] = OF_SERVER.exec(tool.name) ?? [];
      return { server, bare, tool };
    });
    for (const { server, bare, tool } of this.#offered) {
      const joined = ["__", "_", ".", "/", "-", ":"].map((sign) => `${server}${sign}${bare}`);
      for (const name of [`mcp__${server}__${bare}`, `mcp_${server}_${bare}`, ...joined, bare])
        if (!this.#names.has(name)) this.#names.set(name, tool.name);
    }
  }

  /** The tool of ours that a call of an answer means, such as `mcp__cleveragents__use_skill`. */
  named(tool: string): string | undefined {
    return this.#names.get(tool);
  }

  /** The positions of the calls in the answer that came here, and are on record. */
  cameHere({ calls, served }: Round): ReadonlySet<number> {
    const left = [...served];
    const found = new Set<number>();
    for (const [index, { tool }] of calls.entries()) {
      const at = left.indexOf(this.named(tool) ?? "");
      if (at === -1) continue;
      left.splice(at, 1);
      found.add(index);
    }
    return found;
  }

  /** The names of the servers on which they are offered. */
  get servers(): readonly string[] {
    return [...new Set(this.#offered.map(({ server }) => server))];
  }

  /** Everything that the gateway serves during one turn, by the name of the server. */
  servedTo(rounds: AgentRounds): ReadonlyMap<string, Omit<ServedTools, "token">> {
    this.#made.clear();
    return new Map(
      this.servers.map((server) => {
        const own = this.#offered.filter((one) => one.server === server);
        const fullName = (name: string): string => own.find(({ bare }) => bare === name)?.tool.name ?? name;
        const tools = own.map(({ bare, tool }) => ({ ...tool, name: bare }));
        return [server, { tools, call: (tool, params) => this.#call(rounds, fullName(tool), params) }];
      }),
    );
  }

  async #call(rounds: AgentRounds, tool: string, params: JsonObject): ReturnType<ServedTools["call"]> {
    if (rounds.failure !== undefined) throw rounds.failure;
    const round = rounds.present;
    round.served.push(tool);
    const call = `acp-${round.number}-${hash("sha256", JSON.stringify([tool, params])).slice(0, 16)}`;
    const made = (this.#made.get(call) ?? 0) + 1;
    this.#made.set(call, made);
    const about = { tool, params, decision: round.decision, forModel: true };
    try {
      const outcome = await this.#effects.callTool(`${call}-${made}`, about);
      if (!outcome.ok) return { text: outcome.error, failed: true };
      const { text, failure, image, output } = outcome;
      const left = image === undefined ? "" : "\n(An image of it is not passed on.)";
      return { text: `${text ?? JSON.stringify(output)}${left}`, failed: failure !== undefined };
    } catch (error) {
      rounds.fail(error instanceof Error ? error : new Error(String(error)));
      throw error;
    }
  }
}
