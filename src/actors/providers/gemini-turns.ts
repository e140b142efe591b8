/**
 * Gemini wants turns of the user and of the model to alternate. The library sends the results of tools, and what the
 * user says after them, as two turns of the user, which Gemini may refuse; here they become one.
 */
import * as z from "zod";

const Body = z.looseObject({
  contents: z.array(z.looseObject({ role: z.string(), parts: z.array(z.unknown()) })),
});

type Content = z.output<typeof Body>["contents"][number];

export function geminiFetch(send: typeof globalThis.fetch): typeof globalThis.fetch {
  return (input, init) => {
    if (typeof init?.body !== "string") return send(input, init);
    return send(input, { ...init, body: alternating(init.body) });
  };
}

function alternating(text: string): string {
  const body = Body.safeParse(JSON.parse(text));
  if (!body.success) return text;
  const contents: Content[] = [];
  for (const content of body.data.contents) {
    const last = contents.at(-1);
    if (last?.role !== content.role) contents.push(content);
    else contents[contents.length - 1] = { ...last, parts: [...last.parts, ...content.parts] };
  }
  return JSON.stringify({ ...body.data, contents });
}
