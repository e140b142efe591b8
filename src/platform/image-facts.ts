/** The facts of an image, taken from its bytes: the name of a file proves nothing. */
import { imageSize } from "image-size";
import type { ImageFacts, ImageType } from "../domain/values/image.ts";

const STARTS: readonly (readonly [type: ImageType, start: string])[] = [
  ["image/png", "\x89PNG\r\n\x1a\n"],
  ["image/jpeg", "\xff\xd8\xff"],
  ["image/gif", "GIF8"],
];

/** Undefined when the bytes do not begin like an image that models are shown. */
export function imageTypeOf(bytes: Uint8Array): ImageType | undefined {
  const text = Buffer.from(bytes.subarray(0, 12)).toString("latin1");
  const known = STARTS.find(([, start]) => text.startsWith(start));
  if (known !== undefined) return known[0];
  return text.startsWith("RIFF") && text.endsWith("WEBP") ? "image/webp" : undefined;
}

/** Undefined when the bytes are not an image that models are shown, or one that is cut off. */
export function imageFacts(bytes: Uint8Array): Pick<ImageFacts, "type" | "bytes" | "width" | "height"> | undefined {
  const type = imageTypeOf(bytes);
  if (type === undefined) return undefined;
  try {
    const { width, height, type: found = "" } = imageSize(bytes);
    const [, word = ""] = type.split("/");
    const same = found === word || (found === "jpg" && word === "jpeg");
    return same && width > 0 && height > 0 ? { type, bytes: bytes.byteLength, width, height } : undefined;
  } catch {
    // The library throws a plain error for everything that it cannot read.
    return undefined;
  }
}
