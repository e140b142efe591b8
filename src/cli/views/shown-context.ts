/** The context of a model for people at a terminal: its JSON as a text with headings, in the order of the talk. */
import * as z from "zod";

const Call = z.looseObject({ tool: z.string() });
const Message = z.looseObject({
  role: z.string(),
  content: z.string().optional(),
  tool: z.string().optional(),
  output: z.unknown().optional(),
  toolCalls: z.array(Call).optional(),
});
const Shown = z.looseObject({
  system: z.string(),
  messages: z.array(Message),
  tools: z.array(z.looseObject({ name: z.string(), description: z.string() })),
});

/** As it is if it is of another form, such as the request of an outside agent. */
export function readableContext(text: string): string {
  const read = Shown.safeParse(JSON.parse(text));
  if (!read.success) return `${JSON.stringify(JSON.parse(text), undefined, 2)}\n`;
  const { system, messages, tools, ...rest } = read.data;
  const sections = [
    ["System", system],
    ...messages.map(messageSection),
    ["Tools", tools.map(({ name, description }) => `- ${name}: ${description}`).join("\n")],
    ...Object.entries(rest).map(([name, value]) => [name.replaceAll("_", " "), JSON.stringify(value)]),
  ];
  return sections.map(([heading, body]) => `=== ${heading}\n\n${body?.trimEnd()}\n`).join("\n");
}

function messageSection({ role, content, tool, output, toolCalls = [] }: z.infer<typeof Message>): [string, string] {
  const heading = tool === undefined ? role : `${role}: ${tool}`;
  const said = content ?? (typeof output === "string" ? output : JSON.stringify(output, undefined, 2));
  const calls = toolCalls.map((call) => `-> ${call.tool} ${JSON.stringify(call["parameters"])}`);
  return [heading, [said, ...calls].filter((part) => part !== "").join("\n")];
}
