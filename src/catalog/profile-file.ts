import type { AutomationProfile } from "../domain/profile/automation-profile.ts";
import { parseProfile, type ProfileDefinition } from "../domain/profile/profile-definition.ts";
import { readYaml } from "../domain/definition/yaml-file.ts";

/** The loader of automation profiles. `own` are those that the file may extend besides the built-in ones. */
export function parseProfileFile(text: string, file: string, own: readonly AutomationProfile[]): ProfileDefinition {
  return readYaml(text, file, "a profile", (value) => parseProfile(value, own));
}
