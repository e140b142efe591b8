/** Definitions from files: read, shown to a person where they want more than the harmless, and stored. */
import { configuredProviders } from "../../actors/providers/providers.ts";
import { parseActionFile } from "../../catalog/action-file.ts";
import { readActorFile } from "../../catalog/actor-file.ts";
import { parseProfileFile } from "../../catalog/profile-file.ts";
import { readToolFile } from "../../catalog/tool-file.ts";
import type { OwnTool } from "../../catalog/tool-service.ts";
import { checkValidation, parseValidationFile } from "../../catalog/validation-file.ts";
import type { ListedValidation } from "../../catalog/validation-service.ts";
import type { Action } from "../../domain/action/action.ts";
import type { Actor, ActorDefinition } from "../../domain/actor/actor.ts";
import { actorWants, type ActorWants } from "../../domain/actor/actor-wants.ts";
import { readYaml } from "../../domain/definition/yaml-file.ts";
import { parseToolSkill, type ToolSkill } from "../../domain/tool/tool-skill.ts";
import { parameterProblems } from "../../execution/tools/step-parameters.ts";
import type { ReplaceRules } from "../../plans/replace-rules.ts";
import { findOwnProfiles, type OwnProfile } from "../../store/tables/profiles.ts";
import type { App } from "../base/app.ts";
import type { Call } from "../base/call.ts";
import { acceptDefinition } from "./accept-definition.ts";
import { toolWants } from "./accept-repository.ts";

/** A file of definitions, as `Document` has it. */
export interface Source {
  readonly text: string;
  readonly file: string;
  readonly outside: boolean;
  readonly directory?: string | undefined;
}

interface AddedActors {
  readonly added: readonly Actor[];
  readonly definitions: readonly ActorDefinition[];
  readonly wants: ActorWants;
}

/** Undefined when the user said no to what the file wants; so are those below. */
export async function addActors(
  app: App,
  source: Source & { readonly allowEnv: readonly string[] },
  rules: ReplaceRules,
  call: Call,
): Promise<AddedActors | undefined> {
  const endpoints = await configuredEndpoints(app);
  const { text, file, outside, allowEnv } = source;
  const known = [...endpoints.values()];
  const { definitions, variables } = readActorFile(text, file, app.environment, known, parameterProblems);
  const wants = actorWants(definitions, variables, (name) => endpoints.get(name) ?? `the provider ${name}`);
  if (!(await acceptDefinition(app, { text, file, outside, wants, allowEnv }, call))) return undefined;
  return { added: await (await app.actors()).addActors(definitions, rules), definitions, wants };
}

/** By the name of the provider. */
async function configuredEndpoints(app: App): Promise<ReadonlyMap<string, string>> {
  const providers = configuredProviders((await app.config()).global, app.environment);
  return new Map(providers.flatMap(({ name, baseUrl }) => (baseUrl === undefined ? [] : [[name, baseUrl] as const])));
}

export async function addAction(app: App, { text, file }: Source, rules: ReplaceRules): Promise<Action> {
  const own = await (await app.store()).read((reader) => findOwnProfiles(reader));
  return (await app.plans()).createAction(parseActionFile(text, file, own), rules);
}

export async function addProfile(app: App, { text, file }: Source, rules: ReplaceRules): Promise<OwnProfile> {
  const profiles = await app.profiles();
  return profiles.addProfile(parseProfileFile(text, file, await profiles.listProfiles()), rules);
}

export async function addValidation(
  app: App,
  { text, file, outside }: Source,
  rules: ReplaceRules,
  call: Call,
): Promise<ListedValidation | undefined> {
  const definition = parseValidationFile(text, file);
  const { check } = checkValidation(definition);
  const commands = check.kind === "command" ? [check.command] : [];
  const wants = { commands, endpoints: [], variables: [], unsafe: [] };
  if (!(await acceptDefinition(app, { text, file, outside, wants, allowEnv: [] }, call))) return undefined;
  return (await app.validations()).addValidation(definition, rules);
}

export async function addTool(
  app: App,
  { text, file, outside, directory }: Source,
  rules: ReplaceRules,
  call: Call,
): Promise<OwnTool | undefined> {
  const { tool, hash } = readToolFile(text, file, directory);
  const wants = toolWants([tool]);
  if (!(await acceptDefinition(app, { text, hash, file, outside, wants, allowEnv: [] }, call))) return undefined;
  return (await app.tools()).addTool(tool, rules);
}

/** A set of tools wants nothing by itself: its tools were accepted one by one. */
export async function addToolSkill(app: App, { text, file }: Source, rules: ReplaceRules): Promise<ToolSkill> {
  const skill = readYaml(text, file, "a skill", parseToolSkill);
  await (await app.skills()).addToolSkill(skill, rules);
  return skill;
}
