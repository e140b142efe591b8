/** Reads a page of the web as text. Only plans that may use the network have it. */
import * as z from "zod";
import { planTool, type PlanTool } from "./tool.ts";

/** Characters that a model is shown; the record has as many as a program can use. */
const SHOWN = 50_000;
const KEPT = 500_000;

export const WEB_TOOL: PlanTool = planTool({
  name: "web_fetch",
  description: "Read a page of the web (GET) as text: documentation, an issue, an API's description",
  writes: false,
  web: true,
  parameters: z.strictObject({ url: z.string().min(1).max(4_000).describe("the address, with https://") }),
  text: ({ url, text }: { url: string; text: string; type: string }) => {
    if (text.length <= SHOWN) return `${url}\n\n${text}`;
    return `${url}\n\n${text.slice(0, SHOWN).toWellFormed()}\n[cut here: ${SHOWN} of ${text.length} characters are shown]`;
  },
  ask: async ({ url }, { web, signal }) => {
    const page = await web(url, signal);
    const text = page.type.includes("html") ? await readable(page.text) : page.text;
    return { url: page.url, type: page.type, text: text.slice(0, KEPT).toWellFormed() };
  },
});

async function readable(html: string): Promise<string> {
  const { convert } = await import("html-to-text");
  return convert(html, {
    wordwrap: false,
    // Deep or long pages would take minutes.
    limits: { maxInputLength: 5 * 1024 * 1024, maxDepth: 200, maxChildNodes: 20_000 },
    selectors: [
      { selector: "img", format: "skip" },
      { selector: "nav", format: "skip" },
      { selector: "script", format: "skip" },
      { selector: "style", format: "skip" },
      { selector: "a", options: { hideLinkHrefIfSameAsText: true, noAnchorUrl: true } },
      ...["h1", "h2", "h3", "h4", "h5", "h6"].map((selector) => ({ selector, options: { uppercase: false } })),
    ],
  }).trim();
}
