/** The definitions that can be changed in an editor: their names, their texts, and how a new text takes their place. */
import type { FileKind } from "../../catalog/schemas/file-kinds.ts";
import {
  actionText,
  actorText,
  profileText,
  skillText,
  toolText,
  validationText,
} from "../../catalog/texts/definition-text.ts";
import { UsageError } from "../../domain/errors/errors.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import { markOf, type ReplaceRules } from "../../plans/replace-rules.ts";
import { requireProfile } from "../../store/tables/profiles.ts";
import type { App } from "../base/app.ts";
import type { Call } from "../base/call.ts";
import {
  addAction,
  addActors,
  addProfile,
  addTool,
  addToolSkill,
  addValidation,
  type Source,
} from "./add-definition.ts";
import { editableConfig } from "./editable-config.ts";

/** A definition as the user sees it. */
export interface Opened {
  readonly name: string;
  readonly text: string;
  /** Puts a new text in its place; false when the user said no to what it wants. */
  readonly replace: (source: Source, call: Call) => Promise<boolean>;
}

export interface Editable {
  readonly names: (app: App) => Promise<readonly string[]>;
  readonly open: (app: App, name: string) => Promise<Opened>;
  /** The command that does the same without an editor. */
  readonly command: string;
}

export const EDITABLE_KINDS = [
  "actor",
  "action",
  "automation-profile",
  "validation",
  "tool",
  "skill",
  "config",
] as const satisfies readonly FileKind[];
export type EditableKind = (typeof EDITABLE_KINDS)[number];

function rulesFor(stored: unknown): ReplaceRules {
  return { replace: true, seen: markOf(stored) };
}

export const EDITABLE: Readonly<Record<EditableKind, Editable>> = {
  actor: {
    command: "agents actor add --replace --config <file>",
    names: async (app) => (await (await app.actors()).listActors()).map(({ name }) => name),
    open: async (app, named) => {
      const { usedBy: _by, neededBy: _needed, ...actor } = await (await app.actors()).getActor(named);
      const rules = rulesFor(actor);
      return {
        name: actor.name,
        text: actorText(actor),
        replace: async (source, call) => (await addActors(app, { ...source, allowEnv: [] }, rules, call)) !== undefined,
      };
    },
  },
  action: {
    command: "agents action create --replace --config <file>",
    names: async (app) => (await (await app.plans()).listActions()).map(({ name }) => name),
    open: async (app, named) => {
      const action = await (await app.plans()).getAction(named);
      const rules = rulesFor(action);
      return {
        name: action.name,
        text: actionText(action),
        replace: async (source) => {
          await addAction(app, source, rules);
          return true;
        },
      };
    },
  },
  "automation-profile": {
    command: "agents automation-profile add --replace --config <file>",
    names: async (app) => (await (await app.profiles()).listProfiles()).map(({ name }) => name),
    open: async (app, named) => {
      const { name } = await (await app.store()).read((reader) => requireProfile(reader, named, "profile"));
      const profile = (await (await app.profiles()).listProfiles()).find((one) => one.name === name);
      if (profile === undefined) throw builtInError(name);
      const rules = rulesFor(profile);
      return {
        name,
        text: profileText(profile),
        replace: async (source) => {
          await addProfile(app, source, rules);
          return true;
        },
      };
    },
  },
  validation: {
    command: "agents validation add --replace --config <file>",
    names: async (app) => (await (await app.validations()).listValidations()).map(({ name }) => name),
    open: async (app, named) => {
      const { attachments: _, ...validation } = await (await app.validations()).getValidation(named);
      const rules = rulesFor(validation);
      return {
        name: validation.name,
        text: validationText(validation),
        replace: async (source, call) => (await addValidation(app, source, rules, call)) !== undefined,
      };
    },
  },
  tool: {
    command: "agents tool add --replace --config <file>",
    names: async (app) => (await (await app.tools()).listTools()).map(({ definition }) => definition.name),
    open: async (app, named) => {
      const { definition } = await (await app.tools()).getTool(named);
      const rules = rulesFor(definition);
      return {
        name: definition.name,
        text: toolText(definition),
        replace: async (source, call) => (await addTool(app, source, rules, call)) !== undefined,
      };
    },
  },
  skill: {
    command: "agents skill add --replace --config <file>",
    names: async (app) =>
      (await (await app.skills()).listSkills()).flatMap(({ definition }) =>
        "path" in definition ? [] : [definition.name],
      ),
    open: async (app, named) => {
      const skill = await (await app.skills()).getSkill(named);
      if ("path" in skill) throw folderError(named, skill.path);
      const rules = rulesFor(skill);
      return {
        name: skill.name,
        text: skillText(skill),
        replace: async (source) => {
          await addToolSkill(app, source, rules);
          return true;
        },
      };
    },
  },
  config: {
    command: "agents config set <key> <value>",
    names: () => Promise.resolve(["config.yaml"]),
    open: editableConfig,
  },
};

function builtInError(name: string): UsageError {
  return new UsageError(`The automation profile "${name}" is built in and cannot be changed.`, {
    kept: "Nothing was changed.",
    next: [
      { text: `write a profile with "extends: ${name}"` },
      nextStep("automation-profile.add", { definition: { file: "<file>" } }),
    ],
  });
}

function folderError(name: string, path: string): UsageError {
  return new UsageError(`The skill "${name}" is a folder, which stays where it is: ${path}.`, {
    kept: "Nothing was changed.",
    next: [{ text: `change the file SKILL.md in ${path}` }],
  });
}
