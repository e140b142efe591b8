/** The contents that a server sends, as texts for a model and images: of a tool's result, a resource or a prompt. */
import { printable } from "../../domain/text/text.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../domain/values/json.ts";

export interface ServerContent {
  readonly text: string;
  /** The first image; of the others the text says that they were there. */
  readonly image: Uint8Array | undefined;
}

/** The `content` of a result. A block of a kind that is not known is named and left out. */
export function contentOf(blocks: readonly JsonValue[]): ServerContent {
  let image: Uint8Array | undefined;
  const texts = blocks.map((block) => {
    const given = isJsonObject(block) ? block : {};
    if (given["type"] !== "image") return blockText(given);
    const bytes = bytesOf(given["data"]);
    const known = image === undefined;
    image ??= bytes;
    return known ? "" : `[another image (${textOf(given["mimeType"])}, ${bytes.length} bytes) is not shown]`;
  });
  return { text: printable(texts.filter((text) => text !== "").join("\n")), image };
}

function blockText(block: JsonObject): string {
  const type = textOf(block["type"]);
  switch (type) {
    case "text":
      return textOf(block["text"]);
    case "audio":
      return `[audio (${textOf(block["mimeType"])}, ${bytesOf(block["data"]).length} bytes) is not shown]`;
    case "resource_link": {
      const title = textOf(block["title"]) || textOf(block["name"]);
      const about = textOf(block["description"]);
      return `[resource ${textOf(block["uri"])}${title === "" ? "" : `: ${title}`}${about === "" ? "" : ` (${about})`}]`;
    }
    case "resource":
      return resourceText(block["resource"]);
    default:
      return `[content of the kind ${JSON.stringify(type)} is not shown]`;
  }
}

/** A resource as it was read: its text, or how long it is when it has none. */
export function resourceText(resource: JsonValue | undefined): string {
  const given = resource !== undefined && isJsonObject(resource) ? resource : {};
  const uri = textOf(given["uri"]);
  const { text } = given;
  if (typeof text === "string") return `${uri === "" ? "" : `[${uri}]\n`}${text}`;
  return `[${uri} (${textOf(given["mimeType"]) || "binary"}, ${bytesOf(given["blob"]).length} bytes) is not shown]`;
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : "";
}

function bytesOf(value: JsonValue | undefined): Uint8Array {
  return typeof value === "string" ? Buffer.from(value, "base64") : new Uint8Array();
}
