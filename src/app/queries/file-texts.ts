/** The whole text of each file that a plan changed, before and after, for a person who reviews it in an editor. */
import { isUtf8 } from "node:buffer";
import { join } from "node:path";
import * as z from "zod";
import { targetChanges, type NetChange } from "../../changes/net-changes.ts";
import { planChanges } from "../../changes/plan-changes.ts";
import type { FileImage } from "../../domain/plan/change-entry.ts";
import type { Plan } from "../../domain/plan/plan.ts";
import { ChangesetStore } from "../../ledger/changesets.ts";
import { planResources } from "../../plans/in-place-rules.ts";
import type { App } from "../base/app.ts";

/** An editor shows each of them whole: more than this is not reviewed there, and a message has its limits. */
const LARGEST_FILE = 1024 * 1024;
const LARGEST_SUM = 8 * 1024 * 1024;

export const FileTexts = z.strictObject({
  resource: z.string(),
  path: z.string(),
  /** Where the file is, or will be, in the user's own checkout; null when the resource is gone. */
  place: z.string().nullable(),
  /** Null for a file that was not there before, or is not there afterwards. */
  before: z.string().nullable(),
  after: z.string().nullable(),
  /** Why the texts are missing; null when they are there. */
  leftOut: z.enum(["binary", "large"]).nullable(),
});

export async function fileTexts(app: App, plan: Plan): Promise<z.output<typeof FileTexts>[]> {
  const store = await app.store();
  const entries = await planChanges(store, plan.id, plan.attempt);
  const resources = await store.read((reader) => planResources(reader, plan));
  const roots = new Map(resources.map(({ alias, path }) => [alias, path]));
  const contents = new ChangesetStore(store);
  const files: z.output<typeof FileTexts>[] = [];
  let sum = 0;
  for (const [resource, own] of Map.groupBy(entries, (entry) => entry.resource)) {
    const root = roots.get(resource);
    for (const [path, change] of targetChanges(own)) {
      const about = { resource, path, place: root === undefined ? null : join(root, path) };
      const texts = await textsOf(contents, change, LARGEST_SUM - sum);
      if (typeof texts !== "string") sum += (texts.before?.length ?? 0) + (texts.after?.length ?? 0);
      files.push(
        typeof texts === "string"
          ? { ...about, before: null, after: null, leftOut: texts }
          : { ...about, ...texts, leftOut: null },
      );
    }
  }
  return files;
}

type Texts = { readonly before: string | null; readonly after: string | null };

async function textsOf(
  contents: ChangesetStore,
  { before, after }: NetChange,
  left: number,
): Promise<Texts | "binary" | "large"> {
  const sides = [await bytesOf(contents, before), await bytesOf(contents, after)] as const;
  const sizes = sides.map((bytes) => bytes?.byteLength ?? 0);
  if (sizes.some((size) => size > Math.min(LARGEST_FILE, left))) return "large";
  if (sides.some((bytes) => bytes !== undefined && (!isUtf8(bytes) || bytes.includes(0)))) return "binary";
  const [old, now] = sides.map((bytes) => (bytes === undefined ? null : Buffer.from(bytes).toString("utf8")));
  return { before: old ?? null, after: now ?? null };
}

async function bytesOf(contents: ChangesetStore, image: FileImage | undefined): Promise<Uint8Array | undefined> {
  return image === undefined ? undefined : contents.content(image.hash);
}
