/** The profile of test plans that run commands: as `base`, but commands run even where nothing can confine them. */
import { parseProfile } from "../domain/profile/profile-definition.ts";
import { ProfileService } from "../catalog/profile-service.ts";
import type { Store } from "../store/port.ts";

export async function profileAnywhere(store: Store, base = "supervised"): Promise<string> {
  const profiles = new ProfileService({ store });
  const { profile, ...definition } = parseProfile(definitionAnywhere(base), []);
  const known = (await profiles.listProfiles()).some(({ name }) => name === profile.name);
  if (!known) await profiles.addProfile({ profile, ...definition });
  return profile.name;
}

/** The file of that profile. */
export function definitionAnywhere(base: string): Readonly<Record<string, unknown>> {
  const description = "As another profile, also where nothing can confine commands";
  return { name: `anywhere-${base}`, description, extends: base, safety: { require_confinement: false } };
}
