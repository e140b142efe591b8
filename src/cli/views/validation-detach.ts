import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";
import { scopeText } from "./validation-view.ts";

export const show: Show<"validation.detach"> = ({ attachment }) => {
  const { validation, resource } = attachment;
  const text = `Validation ${validation} is no longer attached to ${resource}, ${scopeText(attachment)}.`;
  return { view: [], messages: info(text) };
};
