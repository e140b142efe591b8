import type { Message } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";
import { declined } from "./declined.ts";

export const show: Show<"uninstall"> = (output) => {
  if (output.declined) return declined("removed");
  const { removed, left } = output;
  const messages: Message[] = [
    {
      level: "info",
      text: removed.length === 0 ? "There was nothing to remove." : "All that CleverAgents kept is removed.",
    },
  ];
  if (left.length > 0) messages.push({ level: "warning", text: `Left, because it is not ours: ${left.join(", ")}` });
  return { view: [{ kind: "lines", title: "Removed", lines: removed }], messages };
};
