import type { Show } from "../terminal/show.ts";
import { resourceView } from "./resource-view.ts";

export const show: Show<"resource.show"> = (output) => ({ view: resourceView(output), messages: [] });
