/**
 * The automation profiles that users defined, each stored whole. Plans have copies of their own and never read them
 * again.
 */
import { findProfile, keptProfile, type AutomationProfile } from "../../domain/profile/automation-profile.ts";
import type { ProfileDefinition } from "../../domain/profile/profile-definition.ts";
import { nameKey, nameParts, type QualifiedName } from "../../domain/names/qualified-name.ts";
import type { Reader, Tx } from "../port.ts";

export interface OwnProfile extends AutomationProfile {
  readonly name: QualifiedName;
  /** The profile it was derived from, as that was then. */
  readonly extends: string | undefined;
  readonly createdAt: number;
}

interface ProfileRow {
  readonly extended: string | null;
  readonly profile: string;
  readonly created_at: number;
}

/**
 * Inserts the profile unless its name is taken; false when it is. Exactly one of any number of concurrent callers gets
 * true.
 */
export async function insertProfile(tx: Tx, definition: ProfileDefinition, at: number): Promise<boolean> {
  const { profile } = definition;
  const inserted = await tx.run(
    `INSERT INTO automation_profiles (key, name, namespace, extended, profile, version, created_at, updated_at)
     VALUES (?, ?, ?, ?, ?, 1, ?, ?) ON CONFLICT (key) DO NOTHING`,
    nameKey(profile.name),
    profile.name,
    nameParts(profile.name).namespace.toLowerCase(),
    definition.extends ?? null,
    JSON.stringify(profile),
    at,
    at,
  );
  return inserted === 1;
}

/** Replaces the profile that has the name. */
export async function updateProfile(tx: Tx, definition: ProfileDefinition, at: number): Promise<void> {
  const { profile } = definition;
  await tx.run(
    `UPDATE automation_profiles SET name = ?, extended = ?, profile = ?, version = version + 1, updated_at = ?
      WHERE key = ?`,
    profile.name,
    definition.extends ?? null,
    JSON.stringify(profile),
    at,
    nameKey(profile.name),
  );
}

export async function deleteProfile(tx: Tx, name: QualifiedName): Promise<boolean> {
  return (await tx.run("DELETE FROM automation_profiles WHERE key = ?", nameKey(name))) === 1;
}

export async function findOwnProfiles(reader: Reader, namespace?: string): Promise<OwnProfile[]> {
  const rows = await reader.all<ProfileRow>(
    "SELECT extended, profile, created_at FROM automation_profiles WHERE (CAST(? AS TEXT) IS NULL OR namespace = ?) ORDER BY key",
    namespace?.toLowerCase() ?? null,
    namespace?.toLowerCase() ?? null,
  );
  return rows.map((row) => ({
    ...(keptProfile(row.profile) as AutomationProfile & { name: QualifiedName }),
    extends: row.extended ?? undefined,
    createdAt: row.created_at,
  }));
}

/** The profile of that name, built in or own, as plans are to carry it. */
export async function requireProfile(reader: Reader, name: string, path?: string): Promise<AutomationProfile> {
  const own = (await findOwnProfiles(reader)).map(({ extends: _base, createdAt: _at, ...profile }) => profile);
  return findProfile(name, path, own);
}

/** The available actions that name the profile. */
export async function actionsWithProfile(reader: Reader, name: QualifiedName): Promise<string[]> {
  const rows = await reader.all<{ name: string }>(
    "SELECT name FROM actions WHERE state = 'available' AND automation_profile IS NOT NULL AND LOWER(automation_profile) = ? ORDER BY key",
    nameKey(name),
  );
  return rows.map((row) => row.name);
}
