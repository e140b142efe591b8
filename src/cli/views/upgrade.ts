import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";

export const show: Show<"upgrade"> = ({ installed, newest, isNewer, reason }) => {
  if (newest === null) {
    const text = `This is ${installed}. Whether there is a newer version cannot be known: ${reason}.`;
    return { view: [], messages: [{ level: "warning", text }], status: "warn" };
  }
  const text =
    isNewer === true ? `This is ${installed}, and ${newest} is there.` : `This is ${installed}, the newest version.`;
  return { view: [], messages: info(text) };
};
