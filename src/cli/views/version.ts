import { versionLine } from "../words/quick-answer.ts";
import type { Show } from "../terminal/show.ts";

export const show: Show<"version"> = ({ node, sqlite }) => {
  const text = versionLine({ node, sqlite: sqlite ?? undefined });
  return { view: [], messages: [{ level: "info", text: text.trimEnd() }], text };
};
