import type { AcpActorDefinition } from "./acp-actor.ts";
import type { ActorDefinition, GraphNode } from "./actor.ts";
import { isLocalHost } from "../network/endpoint-address.ts";
import type { JsonObject } from "../values/json.ts";
import { shellProblems } from "../values/template.ts";
import type { ToolName } from "../names/tool-names.ts";

/**
 * The permissions that the actors of a file want beyond the harmless ones. A person sees them before the file is used
 * for the first time. Reading and changing files of a plan is harmless: it happens in the sandbox and is shown before
 * it is applied.
 */
export interface ActorWants {
  /** Commands they run, or that their models may choose. */
  readonly commands: readonly string[];
  /** Endpoints of their own, to which prompts and code go. */
  readonly endpoints: readonly string[];
  /** Variables of the environment whose values they take along, each with everywhere it may go. */
  readonly variables: readonly TakenVariable[];
  /** Those whose author says that they may do harm. */
  readonly unsafe: readonly string[];
  /** Code that runs outside of the sandbox. */
  readonly modules?: readonly string[];
}

export interface TakenVariable {
  readonly name: string;
  readonly endpoint: string;
}

const SHELL: ToolName = "shell_execute";

/** `endpointOf` is where the models of a provider are asked, as it is configured. */
export function actorWants(
  definitions: readonly ActorDefinition[],
  variables: readonly string[],
  endpointOf: (provider: string) => string,
): ActorWants {
  const places = [...new Set(definitions.flatMap((actor) => placesOf(actor, endpointOf)))].sort();
  return {
    commands: definitions.flatMap(commandsOf),
    endpoints: [...new Set(definitions.flatMap((actor) => ownEndpoint(actor) ?? []))],
    variables: variables.flatMap((name) => places.map((endpoint) => ({ name, endpoint }))),
    unsafe: definitions.flatMap((actor) => (actor.type !== "tool" && actor.unsafe ? [actor.name] : [])),
  };
}

export function wantsNothing(wants: ActorWants): boolean {
  return Object.values(wants).every((list: readonly unknown[]) => list.length === 0);
}

/** Each wish as a person reads it. */
export function wantTexts(wants: ActorWants): string[] {
  const { commands, endpoints, variables, unsafe, modules = [] } = wants;
  return [
    ...modules.map((one) => `to run outside of the sandbox, with all your rights: ${one}`),
    ...commands.map((command) => `to run in the sandbox: ${command}`),
    ...endpoints.map((url) => `to send prompts and code to ${url}`),
    ...variables.map(({ name, endpoint }) => `to send the value of ${name} to ${endpoint}`),
    ...unsafe.map((name) => `${name} calls itself unsafe`),
  ];
}

/** Whether prompts and code would leave this machine and its network for an endpoint that the file chose. */
export function leavesMachine({ endpoints }: ActorWants): boolean {
  return endpoints.some((url) => !isLocalHost(new URL(url).hostname));
}

/** Where arguments go into commands in a way that their values could run. */
export function quotingProblems(actor: ActorDefinition): string[] {
  // No shell reads the command of an agent.
  const commands = actor.type === "acp" ? [] : commandsOf(actor).filter((command) => command !== CHOSEN);
  return commands.flatMap(shellProblems).map((problem) => `${actor.name}: ${problem}.`);
}

function commandsOf(actor: ActorDefinition): string[] {
  if (actor.type === "tool")
    return actor.steps.flatMap((step) => (step.tool === SHELL ? [commandText(step.params)] : []));
  if (actor.type === "graph") return actor.route.nodes.flatMap((node) => nodeCommands(node));
  if (actor.type === "acp") return [agentCommand(actor)];
  return actor.tools?.includes(SHELL) === true ? [CHOSEN] : [];
}

function agentCommand({ program }: AcpActorDefinition): string {
  const name = program.agent === undefined ? program.command.join(" ") : `the agent ${program.agent}`;
  return `${name}, and the commands that it chooses`;
}

const CHOSEN = "(commands that its model chooses)";

function nodeCommands(node: GraphNode): string[] {
  if (node.type === "llm") return node.tools.includes(SHELL) ? [CHOSEN] : [];
  return (node.type === "tool" || node.type === "validation") && node.tool === SHELL ? [commandText(node.params)] : [];
}

function commandText(params: JsonObject): string {
  const { command } = params;
  return typeof command === "string" ? command : JSON.stringify(params);
}

function ownEndpoint(actor: ActorDefinition): string | undefined {
  return actor.type === "tool" ? undefined : actor.options.baseUrl;
}

/** Everywhere a text of the actor may be sent to. */
function placesOf(actor: ActorDefinition, endpointOf: (provider: string) => string): string[] {
  if (actor.type === "tool") return ["commands and files of the plan"];
  const { model } = actor;
  const front = model?.includes("/") === true ? model.slice(0, model.indexOf("/")) : undefined;
  const provider = actor.provider ?? front;
  const own = actor.options.baseUrl ?? (provider === undefined ? "the model it is run with" : endpointOf(provider));
  const others =
    actor.type === "graph"
      ? actor.route.nodes.flatMap((node) =>
          "actorRef" in node && node.actorRef !== undefined ? [`the actor ${node.actorRef}`] : [],
        )
      : [];
  return [own, ...others];
}
