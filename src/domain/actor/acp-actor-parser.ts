/** Actors of `type: acp` as people write them: a known agent by its name, or the command of any other one. */
import * as z from "zod";
import { AGENT_DIALECTS, type AcpActorDefinition, type AgentDialect } from "./acp-actor.ts";
import { DEFAULT_AGENT_LIMITS } from "./known-agents.ts";
import { MODEL_ACTOR_FORM, MODEL_ACTOR_SHAPE, maxOutputTokens, version } from "./model-actor.ts";
import { filled, filledLine, suggested } from "../definition/checked-schema.ts";
import { list, map, maybe, number, spelled, word, yesOrNo, type Form, type Say } from "../definition/spelling.ts";
import { isMcpToolName } from "../names/mcp-tool-name.ts";
import { CONTEXT_TOOL_NAMES, SKILL_TOOL } from "../names/tool-names.ts";
import { AGENT_NAMES } from "../names/agent-names.ts";
import { PROVIDER_NAME } from "../settings/provider-settings.ts";

type AgentEndpoint = AgentDialect | "providers";

const MOST_WORDS = 100;
const MOST_VARIABLES = 100;
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]{0,199}$/;
/** A word in braces that could be meant as a placeholder; texts in JSON have none of this form. */
const PLACEHOLDER = /\{([a-z_]+)\}/g;
const FILLED_IN = ["gateway", "token", "model", "home"];

const words = list(filled, MOST_WORDS).min(1, { message: "must name a program" });
const model = filledLine
  .max(200, "is longer than 200 characters")
  .refine((name) => PROVIDER_NAME.test(name.slice(0, Math.max(name.indexOf("/"), 0))) && !name.endsWith("/"), {
    message: "must be of the form provider/model, as in anthropic/claude-sonnet-4-5",
  });
const limits = spelled({
  rounds: number(1, 10_000, "whole").default(DEFAULT_AGENT_LIMITS.rounds),
  minutes: number(1, 1_440, "whole").default(DEFAULT_AGENT_LIMITS.minutes),
});
const ONLY_LIMIT = "has no effect on an agent of another maker, which has settings of its own";
const options = spelled(
  { maxOutputTokens: maxOutputTokens.exactOptional() },
  {
    older: { maxOutputTokens: ["max_tokens"] },
    refused: Object.fromEntries(
      ["temperature", "top_p", "reasoning", "provider_options", "base_url"].map((key) => [key, ONLY_LIMIT]),
    ),
  },
);

const SHAPE = {
  type: z.unknown().optional(),
  version: version.optional(),
  name: MODEL_ACTOR_SHAPE.name,
  description: filledLine,
  agent: maybe(word(AGENT_NAMES)),
  command: maybe(words),
  run: maybe(words),
  env: maybe(map(z.string({ error: "must be a text" }), MOST_VARIABLES, variableProblem)),
  endpoint: maybe(word<AgentEndpoint>([...AGENT_DIALECTS, "providers"])),
  model: maybe(model),
  options: options.default({}),
  protocol: maybe(z.union([z.literal(1), z.literal(2)], { error: "must be 1 or 2" })),
  mode: maybe(filledLine),
  askingMode: maybe(filledLine),
  systemPrompt: MODEL_ACTOR_SHAPE.systemPrompt,
  subAgents: yesOrNo.default(false),
  limits: limits.default(DEFAULT_AGENT_LIMITS),
  contextView: MODEL_ACTOR_SHAPE.contextView,
  tools: MODEL_ACTOR_SHAPE.tools,
  skills: MODEL_ACTOR_SHAPE.skills,
  unsafe: yesOrNo.default(false),
};

const FORM = {
  refused: {
    ...MODEL_ACTOR_FORM.refused,
    provider: "belongs to the model: model: provider/model",
    args: "belongs to the command: command: [program, argument, …]",
    route: "is for actors of type graph",
    memory: "is for actors that ask models themselves",
    response_format: "is for actors that ask models themselves",
  },
} satisfies Form;

type Values = z.output<z.ZodObject<typeof SHAPE>>;

export const acpActor = spelled(SHAPE, FORM, (values, say): AcpActorDefinition | undefined => {
  const program = programOf(values, say);
  if (program === undefined || !judgeOffered(values, program, say)) return undefined;
  if (program.agent === undefined && program.speaks === "run" && values.protocol !== undefined)
    return say("is for an agent that speaks the Agent Client Protocol; remove it", { path: ["protocol"] });
  const slash = values.model?.indexOf("/") ?? 0;
  return {
    name: values.name,
    type: "acp",
    description: values.description,
    program,
    provider: values.model?.slice(0, slash),
    model: values.model?.slice(slash + 1),
    systemPrompt: values.systemPrompt,
    options: values.options,
    protocol: values.protocol ?? 1,
    mode: values.mode,
    askingMode: values.askingMode,
    tools: values.tools,
    ...(values.skills === undefined ? {} : { skills: values.skills }),
    subAgents: values.subAgents,
    limits: values.limits,
    contextView: values.contextView,
    unsafe: values.unsafe,
  };
});

function programOf(values: Values, say: Say): AcpActorDefinition["program"] | undefined {
  const { agent, command, run, env: environment = {}, endpoint } = values;
  if (agent !== undefined) {
    const others = (["command", "run", "env", "endpoint"] as const).filter((key) => values[key] !== undefined);
    for (const key of others) say("is for an agent that is not known by name; remove it or agent", { path: [key] });
    return others.length === 0 ? { agent } : undefined;
  }
  if (command === undefined && run === undefined) {
    return say(`is required: agent (${AGENT_NAMES.join(", ")}), or command or run`, { path: ["agent"] });
  }
  if (command !== undefined && run !== undefined)
    return say("stands beside command; keep one of them", { path: ["run"] });
  if (endpoint === undefined) return say("is required where the agent is not known by name", { path: ["endpoint"] });
  const speaks = run === undefined ? "acp" : "run";
  if (speaks === "run" && endpoint === "providers")
    return say("providers is a part of the protocol, which a program that runs once does not speak", {
      path: ["endpoint"],
    });
  const chosen = command ?? run ?? [];
  const used = judgePlaceholders({ [speaks === "run" ? "run" : "command"]: chosen, env: environment }, speaks, say);
  if (endpoint !== "providers" && !used.has("gateway"))
    return say("must have {gateway} in the command or in env: the agent could not find its model", { path: ["env"] });
  if (speaks === "run" && !used.has("prompt")) return say("must have {prompt} in it", { path: ["run"] });
  return { agent: undefined, speaks, command: chosen, environment, endpoint };
}

const NOT_ON_FILES: ReadonlySet<string> = new Set([...CONTEXT_TOOL_NAMES, "web_fetch", SKILL_TOOL]);

/** It has the files to itself, and tools of its own for them. */
function judgeOffered(
  { tools = [], skills = [] }: Values,
  program: NonNullable<AcpActorDefinition["program"]>,
  say: Say,
): boolean {
  if (program.agent === undefined && program.speaks === "run" && tools.length + skills.length > 0) {
    say("is for agents that speak the protocol; a program that runs once is offered no tools", {
      path: [tools.length > 0 ? "tools" : "skills"],
    });
    return false;
  }
  const unfit = tools.flatMap((tool, index) =>
    NOT_ON_FILES.has(tool) || isMcpToolName(tool) ? [] : [{ tool, index }],
  );
  for (const { tool, index } of unfit)
    say(
      `${tool} works on files, for which the agent has tools of its own; it can be offered ${[...NOT_ON_FILES].join(", ")} and tools of MCP servers`,
      { path: ["tools", String(index)] },
    );
  return unfit.length === 0;
}

/** The placeholders that are used; an unknown one is a mistake that the agent would be started with. */
function judgePlaceholders(
  texts: Readonly<Record<string, readonly string[] | Readonly<Record<string, string>>>>,
  speaks: "acp" | "run",
  say: Say,
): ReadonlySet<string> {
  const known = speaks === "run" ? [...FILLED_IN, "prompt"] : FILLED_IN;
  const used = new Set<string>();
  for (const [key, group] of Object.entries(texts)) {
    for (const [at, text] of Object.entries(group)) {
      for (const [, name = ""] of text.matchAll(PLACEHOLDER)) {
        used.add(name);
        if (known.includes(name)) continue;
        const message = `{${name}} is not known; there are ${known.map((one) => `{${one}}`).join(", ")}`;
        say(message, { path: [key, at], ...suggested(name, known) });
      }
    }
  }
  return used;
}

function variableProblem(name: string): string | undefined {
  return VARIABLE.test(name) ? undefined : "is not the name of an environment variable";
}
