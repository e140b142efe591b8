/** Google's generateContent, streamed or not; signatures of texts and calls come back where they were handed out. */
import * as z from "zod";
import { checkSchema } from "./schema-words.ts";
import { event, parsed, pieces, WireError, wireImage, type Wire, type WireMemory, type WireMessage } from "./wire.ts";

const Json = z.record(z.string(), z.json());
const Signature = z.string().optional();
const Part = z.union([
  z.strictObject({ inlineData: z.strictObject({ mimeType: z.string(), data: z.string() }) }),
  z.strictObject({ text: z.string(), thought: z.boolean().optional(), thoughtSignature: Signature }),
  z.strictObject({
    functionCall: z.strictObject({ id: z.string().optional(), name: z.string(), args: Json }),
    thoughtSignature: Signature,
  }),
  z.strictObject({
    functionResponse: z.strictObject({ id: z.string().optional(), name: z.string(), response: Json }),
  }),
]);
const Content = z.strictObject({ role: z.enum(["user", "model"]), parts: z.array(Part).min(1) });
const Body = z.strictObject({
  contents: z.array(Content).min(1),
  systemInstruction: z.strictObject({ parts: z.array(z.strictObject({ text: z.string() })) }).optional(),
  tools: z
    .array(
      z.strictObject({
        functionDeclarations: z.array(
          z.strictObject({
            name: z.string().regex(/^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/),
            description: z.string(),
            parameters: Json.optional(),
            parametersJsonSchema: Json.optional(),
          }),
        ),
      }),
    )
    .optional(),
  toolConfig: Json.optional(),
  generationConfig: z
    .strictObject({
      maxOutputTokens: z.int().optional(),
      temperature: z.number().optional(),
      topP: z.number().optional(),
      responseMimeType: z.string().optional(),
      responseSchema: Json.optional(),
      responseJsonSchema: Json.optional(),
      thinkingConfig: z
        .strictObject({
          thinkingBudget: z.int().optional(),
          thinkingLevel: z.string().optional(),
          includeThoughts: z.boolean().optional(),
        })
        .optional(),
    })
    .optional(),
});
type Content = z.output<typeof Content>;

const FINISHES = { length: "MAX_TOKENS", refused: "SAFETY" } as const;

export const geminiWire: Wire = {
  read(json, path, memory) {
    const body = parsed(Body, json);
    const tools = (body.tools ?? []).flatMap(({ functionDeclarations }) => functionDeclarations);
    for (const { name, parameters, parametersJsonSchema } of tools)
      checkSchema("gemini", parameters ?? parametersJsonSchema ?? {}, `tools.${name}`);
    checkOrder(body.contents);
    for (const content of body.contents) checkSignatures(content, memory);
    const prompt = JSON.stringify([tools, body.systemInstruction ?? null, body.contents]);
    return {
      model: /models\/([^:/]+)/.exec(path)?.[1] ?? "",
      body: json,
      system: (body.systemInstruction?.parts ?? []).map(({ text }) => text).join("\n"),
      messages: body.contents.flatMap(readContent),
      tools: tools.map(({ name }) => name),
      usage: memory.cache.prefixed(prompt, ""),
    };
  },

  write(answer, { usage, memory }) {
    const { reasoning, text = "", calls = [] } = answer;
    const signed = (key: string): { thoughtSignature?: string } => {
      if (reasoning === undefined) return {};
      const opaque = memory.next("signature-");
      memory.issued.set(key, { reasoning, opaque });
      return { thoughtSignature: opaque };
    };
    const parts: object[] = pieces(reasoning ?? "").map((piece) => ({ text: piece, thought: true }));
    const texts = pieces(text);
    // The signature of a text comes with its last piece, that of several calls with the first.
    for (const [index, piece] of texts.entries())
      parts.push({ text: piece, ...(index === texts.length - 1 ? signed(textKey(text)) : {}) });
    for (const [index, { name, input }] of calls.entries()) {
      const key = callKey(name, JSON.stringify(input));
      parts.push({ functionCall: { name, args: input }, ...(index === 0 ? signed(key) : {}) });
    }
    const usageMetadata = {
      promptTokenCount: usage.input,
      cachedContentTokenCount: usage.cacheRead,
      candidatesTokenCount: usage.output,
      totalTokenCount: usage.input + usage.output,
    };
    const finishReason = answer.finish === undefined ? "STOP" : FINISHES[answer.finish];
    return [
      ...parts.map((part) => event({ candidates: [{ index: 0, content: { role: "model", parts: [part] } }] })),
      event({ candidates: [{ index: 0, content: { role: "model", parts: [] }, finishReason }], usageMetadata }),
    ];
  },

  whole(answer, { usage }) {
    const { text = "", calls = [] } = answer;
    const parts = [
      ...(text === "" ? [] : [{ text }]),
      ...calls.map(({ name, input }) => ({ functionCall: { name, args: input } })),
    ];
    return {
      candidates: [{ index: 0, content: { role: "model", parts }, finishReason: "STOP" }],
      usageMetadata: {
        promptTokenCount: usage.input,
        cachedContentTokenCount: usage.cacheRead,
        candidatesTokenCount: usage.output,
        totalTokenCount: usage.input + usage.output,
      },
    };
  },

  failure: (status, message) => ({ error: { code: status, message, status: "INVALID_ARGUMENT" } }),
};

function textKey(text: string): string {
  return `text ${text}`;
}

function callKey(name: string, input: string): string {
  return `call ${name} ${input}`;
}

function checkOrder(contents: readonly Content[]): void {
  if (contents[0]?.role !== "user") throw new WireError("Please ensure that the first turn is a user turn.");
  for (const [index, { role, parts }] of contents.entries()) {
    const before = contents[index - 1];
    if (before?.role === role)
      throw new WireError("Please ensure that multiturn requests alternate between user and model.");
    const asked = (before?.parts ?? []).flatMap((part) => ("functionCall" in part ? [part.functionCall.name] : []));
    const results = parts.flatMap((part) => ("functionResponse" in part ? [part.functionResponse.name] : []));
    if (asked.length !== results.length || asked.some((name, at) => results[at] !== name)) {
      throw new WireError(
        "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.",
      );
    }
  }
  if (contents.at(-1)?.role !== "user") throw new WireError("Please ensure that the last turn is a user turn.");
}

function checkSignatures({ role, parts }: Content, memory: WireMemory): void {
  if (role === "user") return;
  const text = parts.flatMap((part) => ("text" in part && part.thought !== true ? [part.text] : [])).join("");
  const signed = new Set(parts.flatMap((part) => ("thoughtSignature" in part ? (part.thoughtSignature ?? []) : [])));
  const wanted = memory.issued.get(textKey(text));
  if (wanted !== undefined && !signed.has(wanted.opaque)) throw new WireError("Text is missing a thought_signature.");
  for (const part of parts) {
    if (!("functionCall" in part)) continue;
    const { name, args } = part.functionCall;
    const issued = memory.issued.get(callKey(name, JSON.stringify(args)));
    if (issued !== undefined && part.thoughtSignature !== issued.opaque)
      throw new WireError(`Function call is missing a thought_signature in functionCall parts: ${name}.`);
  }
}

function readContent({ role, parts }: Content): WireMessage[] {
  const text = parts.flatMap((part) => ("text" in part && part.thought !== true ? [part.text] : [])).join("");
  if (role === "model") {
    const calls = parts.flatMap((part, index) =>
      "functionCall" in part
        ? [{ id: part.functionCall.id ?? `${index}`, name: part.functionCall.name, input: part.functionCall.args }]
        : [],
    );
    return [{ role: "assistant", text, calls }];
  }
  const results = parts.flatMap((part): WireMessage[] => {
    if (!("functionResponse" in part)) return [];
    const { id, name, response } = part.functionResponse;
    const said = response["content"] ?? response;
    return [{ role: "tool", callId: id ?? name, text: typeof said === "string" ? said : JSON.stringify(said) }];
  });
  const images = parts.flatMap((part) =>
    "inlineData" in part ? [wireImage(part.inlineData.mimeType, part.inlineData.data)] : [],
  );
  return [...results, ...(text === "" && images.length === 0 ? [] : [{ role: "user", text, images } as const])];
}
