import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";
import { resourceView } from "./resource-view.ts";

export const show: Show<"resource.set"> = (output) => {
  const { name, path } = output.resource;
  const text = output.previousPath === path ? `${name} is at ${path} already.` : `${name} is now at ${path}.`;
  return { view: resourceView(output), messages: info(text) };
};
