/** Our command line as one of the agents that are compared. */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { confinementHere } from "../src/confinement/availability.ts";
import { definitionAnywhere } from "../src/testing/profile-anywhere.ts";
import type { WireName } from "../src/actors/testing/wires/wire.ts";
import { environment, patchOf, type Command, type Contestant, type Place } from "./agent-contestants.ts";
import type { Speech, ToolCall } from "./agent-model.ts";
import type { Action, Task } from "./agent-tasks.ts";

const PROGRAM = join(import.meta.dirname, "..", "bin", "agents");

/** The model by which each format is asked; agents choose their tools and texts by its name. */
const MODEL: Readonly<Record<WireName, string>> = {
  anthropic: "anthropic/claude-sonnet-4-5",
  chat: "vllm/qwen3",
  gemini: "google/gemini-2.5-pro",
  responses: "openai/gpt-5",
};
const PATHS = { anthropic: "v1", openai: "v1", google: "v1beta", vllm: "v1" } as const;
const PROFILE = "trusted";

export function ours(wire: WireName): Contestant {
  let profile = PROFILE;
  return {
    name: wire === "anthropic" ? "ours" : `ours, ${wire}`,
    version: "this checkout",
    wire,
    prepare: async (place) => {
      prepared(place, { "provider.vllm.prices": "*=3/15" });
      if ((await confinementHere()).kind !== "none") return;
      const file = join(place.home, "anywhere.yaml");
      writeFileSync(file, JSON.stringify(definitionAnywhere(PROFILE)));
      agents(place, "automation-profile", "add", "--config", file);
      profile = `local/anywhere-${PROFILE}`;
    },
    start: (place, request) =>
      command(place, "run", request, "--yes", "--actor", MODEL[wire], "--automation-profile", profile),
    resume: (place) => {
      const listed: { data: { plans: { plan_id: string }[] } } = JSON.parse(
        agents(place, "plan", "list", "--format", "json"),
      );
      const [newest] = listed.data.plans;
      if (newest === undefined) throw new Error("no plan was left");
      return [
        command(place, "plan", "resume", newest.plan_id),
        command(place, "plan", "apply", newest.plan_id, "--yes"),
      ];
    },
    speech: () => speech(wire),
  };
}

/** The endpoints of all providers, further settings, and an actor. */
export function prepared(place: Place, settings: Readonly<Record<string, string>>, actor?: object): void {
  for (const [provider, path] of Object.entries(PATHS))
    agents(place, "config", "set", `provider.${provider}.base-url`, `${place.url}/${path}`);
  for (const [key, value] of Object.entries(settings)) agents(place, "config", "set", key, value);
  if (actor === undefined) return;
  const file = join(place.home, "actor.yaml");
  writeFileSync(file, JSON.stringify(actor));
  agents(place, "actor", "add", "--config", file);
}

export function command({ home }: Place, ...words: string[]): Command {
  const env = {
    CLEVERAGENTS_DATA_DIR: join(home, "data"),
    ANTHROPIC_API_KEY: "a-key",
    OPENAI_API_KEY: "a-key",
    GEMINI_API_KEY: "a-key",
    VLLM_API_KEY: "a-key",
  };
  return { words: [process.execPath, PROGRAM, ...words], env };
}

/** Runs a command that has to go well, and returns what it prints. */
function agents(place: Place, ...words: string[]): string {
  const {
    words: [file = "", ...args],
    env,
  } = command(place, ...words);
  const options = { cwd: place.repository, env: environment(place, env), encoding: "utf8" } as const;
  const { status, stdout, stderr } = spawnSync(file, args, options);
  if (status !== 0) throw new Error(`agents ${words.join(" ")}: ${stderr}${stdout}`);
  return stdout;
}

function speech(wire: WireName): Speech {
  return {
    callFor: (action) => callFor(action, wire),
    isFailure: (result) => /^(?:The text to replace|There is no |The patch)/.test(result),
    decide,
  };
}

function decide({ actions, request, summary }: Task): ToolCall {
  const answers = actions.every(({ does }) => does !== "edit" && does !== "run");
  const step = { id: "do", description: request, risk: 0.1, confidence: 0.9 };
  return { name: "record_strategy", input: answers ? { steps: [], answer: summary } : { steps: [step] } };
}

function callFor(action: Action, wire: WireName): ToolCall {
  switch (action.does) {
    case "read":
      return { name: "read_file", input: { path: action.path } };
    case "search":
      return { name: "search_files", input: { pattern: action.pattern } };
    case "list":
      return { name: "read_file", input: { path: action.path } };
    case "edit": {
      const { path, old, new: replacement } = action;
      if (wire === "responses") return { name: "apply_patch", input: { patch: patchOf(action) } };
      return { name: "edit_file", input: { path, old, new: replacement } };
    }
    case "run":
      return { name: "shell_execute", input: { command: action.command } };
  }
}
