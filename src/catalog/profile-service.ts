import { isBuiltIn } from "../domain/profile/automation-profile.ts";
import { ConflictError, ValidationError } from "../domain/errors/errors.ts";
import { nextStep } from "../domain/errors/next-step.ts";
import type { ProfileDefinition } from "../domain/profile/profile-definition.ts";
import { nameKey, parseQualifiedName } from "../domain/names/qualified-name.ts";
import {
  actionsWithProfile,
  deleteProfile,
  findOwnProfiles,
  insertProfile,
  requireProfile,
  updateProfile,
  type OwnProfile,
} from "../store/tables/profiles.ts";
import type { Store } from "../store/port.ts";
import { requireSeen, type ReplaceRules } from "../plans/replace-rules.ts";
import { recordSourceOf, recordEvent, type RecordSource, type ServiceParts } from "../plans/transition.ts";

/**
 * Automation profiles that users defined. The service holds no state; each change is one transaction with its event and
 * its audit entry. No change reaches a plan: each carries the whole profile it was made with.
 */
export class ProfileService {
  readonly #store: Store;
  readonly #recordSource: RecordSource;

  constructor(parts: ServiceParts) {
    this.#store = parts.store;
    this.#recordSource = recordSourceOf(parts);
  }

  listProfiles(namespace?: string): Promise<OwnProfile[]> {
    return this.#store.read((reader) => findOwnProfiles(reader, namespace));
  }

  async addProfile(definition: ProfileDefinition, rules: ReplaceRules = {}): Promise<OwnProfile> {
    const { profile } = definition;
    return this.#store.transaction(async (tx) => {
      const at = this.#recordSource.clock();
      const before =
        rules.replace === true
          ? (await findOwnProfiles(tx)).find(({ name }) => nameKey(name) === nameKey(profile.name))
          : undefined;
      requireSeen(`automation profile "${profile.name}"`, before, rules.seen);
      if (before !== undefined) {
        await updateProfile(tx, definition, at);
        const details = { profile: profile.name, extends: definition.extends ?? null };
        await recordEvent(tx, this.#recordSource, { type: "automation_profile.replaced", at, details });
        return { ...profile, extends: definition.extends, createdAt: before.createdAt };
      }
      if (!(await insertProfile(tx, definition, at))) {
        throw new ConflictError(
          `There is already an automation profile "${profile.name}".`,
          { expected: "no such profile", actual: profile.name, code: "already_exists" },
          {
            kept: "The existing profile was not changed.",
            next: [
              nextStep("automation-profile.show", { profile: profile.name }),
              nextStep("automation-profile.add", { definition: { file: "<file>" }, replace: true }),
            ],
          },
        );
      }
      const details = { profile: profile.name, extends: definition.extends ?? null };
      await recordEvent(tx, this.#recordSource, { type: "automation_profile.added", at, details });
      return { ...profile, extends: definition.extends, createdAt: at };
    });
  }

  /** Removes the profile unless an available action, or one of the settings that the caller found it in, names it. */
  async removeProfile(name: string, configuredIn: readonly string[] = []): Promise<void> {
    if (isBuiltIn(name)) {
      const message = `"${name}" is built in and cannot be removed.`;
      throw new ValidationError(message, [{ path: "profile", message }], { kept: "Nothing was changed." });
    }
    await this.#store.transaction(async (tx) => {
      const own = parseQualifiedName((await requireProfile(tx, name, "profile")).name);
      const actions = await actionsWithProfile(tx, own);
      if (actions.length > 0 || configuredIn.length > 0) {
        const users = [...actions.map((action) => `the action ${action}`), ...configuredIn];
        throw new ConflictError(
          `The automation profile "${own}" is used by ${users.slice(0, 5).join(", ")}${users.length > 5 ? ", …" : ""}.`,
          { expected: "nothing that names it", actual: { actions: actions.slice(0, 20), configured: configuredIn } },
          {
            kept: "Nothing was changed.",
            next:
              actions.length > 0
                ? actions.slice(0, 5).map((action) => nextStep("action.archive", { action }))
                : [nextStep("config.set", { key: "core.automation-profile", value: "<another>" })],
          },
        );
      }
      await deleteProfile(tx, own);
      const at = this.#recordSource.clock();
      await recordEvent(tx, this.#recordSource, { type: "automation_profile.removed", at, details: { profile: own } });
    });
  }
}

/** Where the configuration names the profile, in words. */
export function settingsNaming(
  name: string,
  sources: {
    readonly environment: string | undefined;
    readonly global: string | undefined;
    readonly projects: Iterable<readonly [project: string, profile: string | undefined]>;
  },
): string[] {
  const key = nameKey(parseQualifiedName(name));
  const names = (value: string | undefined): boolean => value?.toLowerCase() === key;
  return [
    ...(names(sources.environment) ? ["the environment"] : []),
    ...(names(sources.global) ? ["the configuration"] : []),
    ...[...sources.projects].flatMap(([project, value]) => (names(value) ? [`the project ${project}`] : [])),
  ];
}
