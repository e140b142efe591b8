import { expect, test } from "vitest";
import { parseActor } from "./actor-parser.ts";
import { ValidationError, type ValidationIssue } from "../errors/errors.ts";

const CLAUDE = { name: "claude", type: "acp", description: "Claude Code carries out the steps", agent: "claude" };
const OWN = {
  name: "own",
  type: "acp",
  description: "An agent without a recipe",
  command: ["my-agent", "acp"],
  env: { MY_BASE_URL: "{gateway}/v1", MY_API_KEY: "{token}" },
  endpoint: "anthropic",
};

function issuesOf(input: unknown): readonly ValidationIssue[] {
  try {
    parseActor(input);
  } catch (error) {
    expect(error).toBeInstanceOf(ValidationError);
    return (error as ValidationError).issues;
  }
  return [];
}

test("a known agent needs only its name; everything else has a default", () => {
  expect(parseActor(CLAUDE)).toEqual({
    name: "local/claude",
    type: "acp",
    description: "Claude Code carries out the steps",
    program: { agent: "claude" },
    provider: undefined,
    model: undefined,
    systemPrompt: "",
    options: {},
    protocol: 1,
    mode: undefined,
    tools: undefined,
    subAgents: false,
    limits: { rounds: 60, minutes: 30 },
    contextView: undefined,
    unsafe: false,
  });
});

test("every key of a known agent is taken over", () => {
  const actor = parseActor({
    ...CLAUDE,
    model: "anthropic/claude-sonnet-5",
    options: { max_output_tokens: 8192 },
    protocol: 2,
    mode: "default",
    system_prompt: "Be brief.",
    sub_agents: true,
    limits: { rounds: 5 },
    context_view: "execute",
    unsafe: true,
  });
  expect(actor).toMatchObject({
    provider: "anthropic",
    model: "claude-sonnet-5",
    options: { maxOutputTokens: 8192 },
    protocol: 2,
    mode: "default",
    systemPrompt: "Be brief.",
    subAgents: true,
    limits: { rounds: 5, minutes: 30 },
    contextView: "execute",
    unsafe: true,
  });
});

test("another agent is given by its command, its variables and its endpoint", () => {
  expect(parseActor({ ...OWN, model: "ollama/qwen3:30b/x" })).toMatchObject({
    program: {
      agent: undefined,
      speaks: "acp",
      command: ["my-agent", "acp"],
      environment: { MY_BASE_URL: "{gateway}/v1", MY_API_KEY: "{token}" },
      endpoint: "anthropic",
    },
    provider: "ollama",
    model: "qwen3:30b/x",
  });
  const { command: _, ...rest } = OWN;
  expect(parseActor({ ...rest, run: ["aider", "--message", "{prompt}"] })).toMatchObject({
    program: { speaks: "run", command: ["aider", "--message", "{prompt}"] },
  });
  expect(parseActor({ ...OWN, env: {}, endpoint: "providers" })).toMatchObject({
    program: { environment: {}, endpoint: "providers" },
  });
});

test.each([
  [{ ...CLAUDE, agent: "cluade" }, "agent", "it must be one of claude", "claude"],
  [{ ...CLAUDE, modle: "x/y" }, "modle", "unknown key", "model"],
  [{ ...CLAUDE, model: "sonnet" }, "model", "provider/model", undefined],
  [{ ...CLAUDE, model: "anthropic/" }, "model", "provider/model", undefined],
  [{ ...CLAUDE, command: ["x"] }, "command", "not known by name", undefined],
  [{ ...CLAUDE, provider: "anthropic" }, "provider", "belongs to the model", undefined],
  [{ ...CLAUDE, role_hint: "execution" }, "role_hint", "not implemented", undefined],
  [{ ...CLAUDE, options: { temperature: 1 } }, "options.temperature", "has no effect", undefined],
  [{ ...CLAUDE, limits: { rounds: 0 } }, "limits.rounds", "from 1 to 10000", undefined],
  [{ ...CLAUDE, limits: { hours: 1 } }, "limits.hours", "unknown key", undefined],
  [{ ...CLAUDE, agent: undefined }, "agent", "is required", undefined],
  [{ ...OWN, run: ["x", "{prompt}"] }, "run", "keep one of them", undefined],
  [{ ...OWN, endpoint: undefined }, "endpoint", "is required", undefined],
  [{ ...OWN, endpoint: "openai" }, "endpoint", "it must be one of", undefined],
  [{ ...OWN, env: { URL: "{gatway}" } }, "env.URL", "{gatway} is not known", "gateway"],
  [{ ...OWN, command: ["x", "{prompt}"] }, "command.1", "{prompt} is not known", undefined],
  [{ ...OWN, env: { KEY: "{token}" } }, "env", "must have {gateway}", undefined],
  [{ ...OWN, env: { "A B": "{gateway}" } }, "env.A B", "not the name of an environment variable", undefined],
  [{ ...OWN, env: { OPENAI_API_KEY: "sk-mine", URL: "{gateway}" } }, "env.OPENAI_API_KEY", "is for a key", undefined],
  [{ ...OWN, command: undefined, run: ["x"] }, "run", "must have {prompt}", undefined],
  [
    { ...OWN, command: undefined, run: ["x", "{prompt}"], protocol: 2 },
    "protocol",
    "is for an agent that speaks",
    undefined,
  ],
  [{ ...OWN, protocol: 3 }, "protocol", "must be 1 or 2", undefined],
  [
    { ...OWN, command: undefined, run: ["x", "{prompt}"], endpoint: "providers" },
    "endpoint",
    "does not speak",
    undefined,
  ],
])("a mistake is named at its place: %#", (input, path, message, suggestion) => {
  const issue = issuesOf(input).find((one) => one.path === path);
  expect(issue?.message).toContain(message);
  if (suggestion !== undefined) expect(issue?.suggestion).toBe(suggestion);
});
