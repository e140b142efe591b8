/** The pieces of a request, in every dialect: what is masked, what is counted, and what is refused. */
import { describe, expect, test } from "vitest";
import type { JsonObject, JsonValue } from "../../domain/values/json.ts";
import { RefusedRequestError } from "./refusals.ts";
import { changedPieces, refuseStored, type Piece } from "./request-pieces.ts";

/** The pieces without the frame: ids, roles and types. */
function pieces(value: JsonValue): Piece[] {
  const found: Piece[] = [];
  changedPieces(value, (piece) => {
    if (piece.kind !== "frame") found.push(piece);
    return piece.value;
  });
  return found;
}

const IMAGE = "QUJD";
const text = (value: string, key = "text"): Piece => ({ kind: "text", value, key });

function refusalOf(ask: () => unknown): [number, string] | undefined {
  try {
    ask();
    return undefined;
  } catch (error) {
    if (!(error instanceof RefusedRequestError)) throw error;
    return [error.status, error.message];
  }
}

const STORED = "The gateway cannot count or mask what is stored elsewhere. Put it into the request itself:";

describe("data that is not text", () => {
  const url = `data:image/png;base64,${IMAGE}`;
  const base64 = { type: "base64", media_type: "image/png", data: IMAGE };
  const pdf = { type: "base64", media_type: "application/pdf", data: IMAGE };
  const audio = { data: IMAGE, format: "wav" };
  const media = (value: JsonValue, image: boolean, length = IMAGE.length): Piece => ({
    kind: "media",
    value,
    image,
    length,
  });

  test.each<[string, JsonObject, Piece]>([
    ["Anthropic's image", { type: "image", source: base64 }, media(base64, true)],
    ["Anthropic's document", { type: "document", source: pdf }, media(pdf, false)],
    ["a chat's image", { type: "image_url", image_url: { url, detail: "low" } }, media(url, true, url.length)],
    ["an image of the Responses API", { type: "input_image", image_url: url }, media(url, true, url.length)],
    ["a chat's sound", { type: "input_audio", input_audio: audio }, media(audio, false)],
    [
      "Gemini's image",
      { inlineData: { mimeType: "image/png", data: IMAGE } },
      media({ mimeType: "image/png", data: IMAGE }, true),
    ],
    [
      "Gemini's image in the other spelling",
      { inline_data: { mime_type: "image/png", data: IMAGE } },
      media({ mime_type: "image/png", data: IMAGE }, true),
    ],
    [
      "Gemini's image without data",
      { inlineData: { mimeType: "image/png" } },
      media({ mimeType: "image/png" }, true, 0),
    ],
  ])("is one piece: %s", (_, block, expected) => {
    expect(pieces({ role: "user", content: [block, { type: "text", text: "look" }] })).toEqual([
      expected,
      text("look"),
    ]);
  });

  test("is not in a document whose source is a text: that is masked and counted as text", () => {
    const source = { type: "text", media_type: "text/plain", data: "words" };
    expect(pieces({ type: "document", source })).toEqual([text("words", "data")]);
    expect(pieces({ type: "document", source: { data: "words" } })).toEqual([text("words", "data")]);
  });

  test("is not what only calls itself base64 elsewhere: its texts are masked and counted", () => {
    expect(pieces([{ type: "base64", media_type: "image/png", text: "secret" }])).toEqual([text("secret")]);
  });
});

describe("what only the provider reads", () => {
  test.each<[string, JsonObject]>([
    ["Anthropic's thoughts", { type: "thinking", thinking: "hm", signature: "s" }],
    ["Anthropic's hidden thoughts", { type: "redacted_thinking", data: "s" }],
    ["OpenAI's thoughts", { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "s" }],
    ["Gemini's thoughts", { thought: true, text: "hm" }],
  ])("is one piece, as it came: %s", (_, block) => {
    expect(pieces([block])).toEqual([{ kind: "opaque", value: block }]);
  });

  test("is kept apart from the call that it stands beside", () => {
    const part = { functionCall: { name: "read", args: { path: "a" } }, thoughtSignature: "s" };
    expect(pieces(part)).toEqual([
      text("read", "name"),
      { kind: "json", value: { path: "a" } },
      { kind: "opaque", value: "s" },
    ]);
  });
});

test("each piece is replaced where it stands, and the frame stays around it", () => {
  const message = {
    role: "assistant",
    content: [{ type: "text", text: "my secret" }],
    tool_calls: [{ id: "c1", type: "function", function: { name: "f", arguments: '{"a":"secret"}' } }],
    reasoning_content: "secret",
  };
  const masked = changedPieces(message, (piece) =>
    piece.kind === "text" ? piece.value.replace("secret", "***") : piece.value,
  );
  expect(masked).toEqual({
    role: "assistant",
    content: [{ type: "text", text: "my ***" }],
    tool_calls: [{ id: "c1", type: "function", function: { name: "f", arguments: '{"a":"***"}' } }],
    reasoning_content: "secret",
  });
});

describe("what is stored elsewhere is refused by its name", () => {
  test.each<[string, JsonObject]>([
    ["image_url", { type: "image_url", image_url: { url: "https://a.example/a.png" } }],
    ["image_url", { type: "input_image", image_url: "https://a.example/a.png" }],
    ["file_id", { type: "input_file", file_id: "file-1" }],
    ["fileData", { fileData: { fileUri: "gs://a" } }],
    ["file_data", { file_data: { file_uri: "gs://a" } }],
    ["item_reference", { type: "item_reference", id: "i" }],
    ["source", { type: "image", source: { type: "url", url: "https://a.example/a.png" } }],
    ["source", { type: "document", source: { type: "file", id: "file-1" } }],
  ])("%s in a message", (name, block) => {
    expect(refusalOf(() => pieces([{ role: "user", content: [block] }]))).toEqual([400, `${STORED} ${name}.`]);
  });

  test("but not a file whose bytes are in the request", () => {
    const file = { filename: "a.pdf", file_data: `data:application/pdf;base64,${IMAGE}` };
    const length = file.file_data.length;
    expect(pieces([{ type: "file", file }])).toEqual([
      text("a.pdf", "filename"),
      { kind: "media", value: file.file_data, image: false, length },
    ]);
  });

  test("a conversation at the provider, but not the null that says there is none", () => {
    expect(refusalOf(() => refuseStored({ previous_response_id: "r1", input: "hi" }))).toEqual([
      400,
      `${STORED} previous_response_id.`,
    ]);
    expect(refusalOf(() => refuseStored({ cachedContent: "c" }))).toEqual([400, `${STORED} cachedContent.`]);
    expect(refusalOf(() => refuseStored({ previous_response_id: null, input: "hi" }))).toBeUndefined();
  });
});
