/** The images that came with the request of a plan, in the table `plan_images`; their bytes are contents. */
import type { PlanId } from "../domain/names/ids.ts";
import type { ImageFacts, ImageType } from "../domain/values/image.ts";
import { stageContent, type StagedContent } from "../store/contents/contents.ts";
import type { Reader, Store, Tx } from "../store/port.ts";

/** An image of a plan that is to be made; its bytes are ready to become durable with it. */
export interface StagedImage {
  readonly facts: ImageFacts;
  readonly content: StagedContent;
}

export async function preparedImage(
  store: Store,
  facts: Omit<ImageFacts, "sha256">,
  bytes: Uint8Array,
): Promise<StagedImage> {
  const content = await stageContent(store, bytes);
  return { facts: { ...facts, sha256: content.hash }, content };
}

/** Written with the plan, never changed. */
export async function insertPlanImages(tx: Tx, planId: PlanId, images: readonly StagedImage[]): Promise<void> {
  for (const [index, { facts, content }] of images.entries()) {
    const { name, sha256, type, bytes, width, height } = facts;
    await content.commit(tx);
    await tx.run(
      `INSERT INTO plan_images (plan_id, position, name, hash, type, size, width, height)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
      planId,
      index + 1,
      name,
      sha256,
      type,
      bytes,
      width,
      height,
    );
  }
}

export async function planImages(reader: Reader, planId: PlanId): Promise<ImageFacts[]> {
  const rows = await reader.all<{
    name: string;
    hash: string;
    type: ImageType;
    size: number;
    width: number;
    height: number;
  }>("SELECT name, hash, type, size, width, height FROM plan_images WHERE plan_id = ? ORDER BY position", planId);
  return rows.map(({ hash: sha256, size: bytes, ...facts }) => ({ ...facts, sha256, bytes }));
}
