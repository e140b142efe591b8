/** Images in the messages of a conversation, and the words that stand for those that are not shown. */
import { imageText, REQUEST_IMAGE_BYTES, REQUEST_IMAGES } from "../../domain/values/image.ts";
import type { ModelMessage } from "./model.ts";

type UserMessage = Extract<ModelMessage, { role: "user" }>;

/** The message with the reason why its images are not shown. */
export function withoutImages(message: UserMessage, why: string): UserMessage {
  const { images = [], content } = message;
  if (images.length === 0) return message;
  const notes = images.map((image) => `[not shown: ${imageText(image)}; ${why}]`);
  return { role: "user", content: [content, ...notes].join("\n") };
}

/**
 * Takes the oldest images out of a conversation that has more than one request can carry. The beginning keeps its own:
 * they are what the user wants to talk about.
 */
export function leaveOutOldImages(messages: ModelMessage[]): void {
  const [first] = messages;
  const given = first?.role === "user" ? (first.images ?? []) : [];
  let [count, bytes] = [given.length, given.reduce((sum, image) => sum + image.bytes, 0)];
  for (let index = messages.length - 1; index > 0; index -= 1) {
    const message = messages[index];
    if (message?.role !== "user" || message.images === undefined) continue;
    count += message.images.length;
    bytes += message.images.reduce((sum, image) => sum + image.bytes, 0);
    if (count > REQUEST_IMAGES || bytes > REQUEST_IMAGE_BYTES)
      messages[index] = withoutImages(message, "it was left out when newer ones came; read it again if you need it");
  }
}
