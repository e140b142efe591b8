import type { Show } from "../terminal/show.ts";
import { writtenText } from "./written-text.ts";

export const show: Show<"session.export"> = ({ text, sessionId, as }, { options, io }) => {
  const file = options["output"];
  const done = `Session ${sessionId} is in ${String(file)}, as ${as === "json" ? "JSON" : "Markdown"}.`;
  return writtenText(text, { file, io, done });
};
