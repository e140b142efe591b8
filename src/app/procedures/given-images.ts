/** The images that a request brings along: read and checked before anything is written or sent. */
import { readFile, stat } from "node:fs/promises";
import { basename, resolve } from "node:path";
import { askedModels, localModels } from "./announce-model.ts";
import { modelOf } from "../../actors/providers/actor-model.ts";
import { UsageError } from "../../domain/errors/errors.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import { imageProblem, imagesProblem } from "../../domain/values/image.ts";
import { preparedImage, type StagedImage } from "../../ledger/plan-images.ts";
import { imageFacts } from "../../platform/image-facts.ts";
import type { App } from "../base/app.ts";

/** Bytes. A larger file is not read to find out what it is. */
const LARGEST_FILE = 64 * 1024 * 1024;

export async function givenImages(
  app: App,
  wish: { readonly images: readonly string[]; readonly directory: string },
  actors: readonly (string | undefined)[],
  signal: AbortSignal,
): Promise<StagedImage[]> {
  if (wish.images.length === 0) return [];
  await requireSight(app, actors, signal);
  const store = await app.store();
  const staged: StagedImage[] = [];
  for (const given of wish.images) staged.push(await oneImage(given, wish.directory, store));
  const problem = imagesProblem(staged.map(({ facts }) => facts));
  if (problem !== undefined) throw imageError(`Not all images can be shown: ${problem}.`);
  return staged;
}

async function oneImage(
  given: string,
  directory: string,
  store: Parameters<typeof preparedImage>[0],
): Promise<StagedImage> {
  const path = resolve(directory, given);
  const bytes = await bytesOf(path).catch((error: unknown) => {
    throw imageError(`The image ${given} cannot be read: ${error instanceof Error ? error.message : String(error)}.`);
  });
  const facts = imageFacts(bytes);
  if (facts === undefined) throw imageError(`${given} is not an image that can be shown: png, jpeg, gif and webp can.`);
  const problem = imageProblem(facts);
  if (problem !== undefined) throw imageError(`The image ${given} ${problem}.`);
  return preparedImage(store, { ...facts, name: basename(path) }, bytes);
}

async function bytesOf(path: string): Promise<Uint8Array> {
  const { size } = await stat(path);
  if (size > LARGEST_FILE) throw new Error(`it has ${size} bytes`);
  return readFile(path);
}

async function requireSight(app: App, actors: readonly (string | undefined)[], signal: AbortSignal): Promise<void> {
  for (const name of actors) {
    if (name === undefined) continue;
    const actor = await app.actorNamed(name);
    if (actor.type === "tool" || actor.type === "acp" || (actor.type === "graph" && actor.model === undefined)) {
      throw imageError(`The actor ${actor.name} does not ask one model, so it cannot be shown images.`);
    }
    const ref = modelOf(actor);
    await askedModels(app, await localModels(app, [ref]), signal);
    if ((await app.models()).seesImages(ref)) continue;
    throw new UsageError(`${ref.provider}/${ref.model} is not known to see images.`, {
      kept: "Nothing was written and nothing was sent.",
      next: [
        nextStep("models.list", { provider: ref.provider }),
        nextStep("config.set", { key: `provider.${ref.provider}.images`, value: ref.model }),
      ],
    });
  }
}

function imageError(message: string): UsageError {
  return new UsageError(message, { kept: "Nothing was written and nothing was sent." });
}
