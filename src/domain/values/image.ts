/** Images as models are shown them: which kinds, how large they may be, and how many tokens they count as. */
export type ImageType = "image/png" | "image/jpeg" | "image/gif" | "image/webp";

/** An image by the hash of its bytes, which are a content of the store. */
export interface ImageFacts {
  /** The name by which people and models know it, such as its path. */
  readonly name: string;
  readonly sha256: string;
  readonly type: ImageType;
  readonly bytes: number;
  /** Pixels. */
  readonly width: number;
  readonly height: number;
}

/** The strictest provider takes 5 MB in base64, and 8,000 pixels on a side. */
const IMAGE_BYTES = 3_750_000;
const IMAGE_SIDE = 8_000;
/** Of one request: the strictest provider takes 20 MB with everything in it. */
export const REQUEST_IMAGES = 20;
export const REQUEST_IMAGE_BYTES = 12_000_000;

/** Why an image cannot be shown to any model; undefined when it can. */
export function imageProblem({
  bytes,
  width,
  height,
}: Pick<ImageFacts, "bytes" | "width" | "height">): string | undefined {
  if (bytes > IMAGE_BYTES) return `has ${bytes} bytes; at most ${IMAGE_BYTES} can be shown to a model`;
  if (width > IMAGE_SIDE || height > IMAGE_SIDE)
    return `has ${width}×${height} pixels; at most ${IMAGE_SIDE} on a side can be shown to a model`;
  return undefined;
}

/** Why several images cannot be shown together. */
export function imagesProblem(images: readonly Pick<ImageFacts, "bytes">[]): string | undefined {
  if (images.length > REQUEST_IMAGES) return `${images.length} images are too many: ${REQUEST_IMAGES} at most`;
  const bytes = images.reduce((sum, image) => sum + image.bytes, 0);
  if (bytes > REQUEST_IMAGE_BYTES) return `the images have ${bytes} bytes: ${REQUEST_IMAGE_BYTES} at most`;
  return undefined;
}

/**
 * Tokens of an image, an estimate that is at least what the providers count: Anthropic counts a token for about 750
 * pixels, OpenAI 170 for each square of 512 pixels or up to 2.46 for each of 32, Google 258 for each of up to 768,
 * four at the least for what is larger than 384. All of them shrink large images first.
 */
export function imageTokens({ width, height }: Pick<ImageFacts, "width" | "height">): number {
  return Math.min(5_000, 1_100 + Math.ceil((width * height) / 400));
}

export function imageText({ name, type, bytes, width, height }: ImageFacts): string {
  return `${name} (${type}, ${width}×${height} pixels, ${bytes} bytes)`;
}
