/** The program of an agent without a recipe, ready to be started: its placeholders are filled in. */
import type { AcpActorDefinition } from "../../domain/actor/acp-actor.ts";
import { ConfigurationError } from "../../domain/errors/errors.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import type { Environment } from "../../domain/values/environment.ts";
import type { AgentGateway, AgentProgram } from "./agent-port.ts";
import { installedProgram, shownScript } from "./installed-program.ts";

/** The values of the placeholders. */
export interface ProgramValues extends AgentGateway {
  readonly home: string;
  /** For a program that runs once for each prompt. */
  readonly prompt?: string;
}

export function filledIn(text: string, values: ProgramValues): string {
  const { url: gateway, token, model, home, prompt } = values;
  const known: Readonly<Record<string, string | undefined>> = { gateway, token, model, home, prompt };
  return text.replaceAll(/\{(gateway|token|model|home|prompt)\}/g, (whole, name: string) => known[name] ?? whole);
}

type OwnProgram = Extract<AcpActorDefinition["program"], { readonly agent: undefined }>;

/** `environment` is the user's; the program is looked for on its PATH. */
export function ownProgram(
  actor: AcpActorDefinition,
  { command, environment: variables }: OwnProgram,
  values: ProgramValues,
  environment: Environment,
): AgentProgram {
  const [word = "", ...words] = command;
  const found = installedProgram(word, environment);
  if (found === undefined) {
    throw new ConfigurationError(`The program "${word}" of ${actor.name} is not installed: it is not on the PATH.`, {
      kept: "Nothing was started.",
      next: [nextStep("actor.show", { actor: actor.name })],
    });
  }
  // The script of an interpreter lies anywhere, and its confinement shows nothing of the user's by itself.
  return {
    command: [...found.command, ...words.map((one) => filledIn(one, values))],
    environment: Object.fromEntries(
      Object.entries(variables).map(([name, value]) => [name, filledIn(value, values)] as const),
    ),
    files: {},
    readable: [...found.readable, ...words.flatMap(shownScript)],
  };
}
