/** The request of a prompt: its text with the things that the editor attached, and its images as files. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import type { ContentBlock, ImageContent } from "@agentclientprotocol/sdk";
import { UsageError } from "../domain/errors/errors.ts";

export interface Prompt extends AsyncDisposable {
  readonly request: string;
  /** The paths of its images, until the prompt is disposed of. */
  readonly images: readonly string[];
}

export async function promptOf(blocks: readonly ContentBlock[], directory: string): Promise<Prompt> {
  const request = blocks
    .map((block) => blockText(block, directory))
    .join("")
    .trim();
  const images = blocks.filter((block) => block.type === "image");
  if (images.length === 0) return { request, images: [], [Symbol.asyncDispose]: async () => undefined };
  const scratch = await mkdtemp(join(tmpdir(), "cleveragents-prompt-"));
  const files = images.map((_, index) => join(scratch, `image-${index + 1}`));
  for (const [index, image] of images.entries()) await writeFile(files[index] ?? "", bytesOf(image));
  return {
    request,
    images: files,
    [Symbol.asyncDispose]: () => rm(scratch, { recursive: true, force: true }),
  };
}

function bytesOf({ data }: ImageContent): Buffer {
  return Buffer.from(data, "base64");
}

function blockText(block: ContentBlock, directory: string): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "resource_link":
      return placeOf(block.uri, directory);
    case "resource": {
      const { resource } = block;
      const place = placeOf(resource.uri, directory);
      return "text" in resource ? `\n\n${place}:\n\`\`\`\n${resource.text}\n\`\`\`\n` : place;
    }
    case "image":
      return "";
    case "audio":
      throw new UsageError("Audio is not understood here.", { kept: "Nothing was written." });
  }
}

/** A file of the repository by its path there, so that a model finds it in its sandbox. */
function placeOf(uri: string, directory: string): string {
  if (!uri.startsWith("file:")) return uri;
  const path = pathOf(uri);
  const inside = relative(directory, path);
  return inside.startsWith("..") ? path : inside;
}

function pathOf(uri: string): string {
  try {
    return fileURLToPath(uri);
  } catch {
    // Not a path of this machine; a model may still make sense of it.
    return uri;
  }
}
