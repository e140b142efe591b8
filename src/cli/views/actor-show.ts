import type { Show } from "../terminal/show.ts";
import { actorView } from "./actor-view.ts";

export const show: Show<"actor.show"> = ({ actorDetails, usage, ...parts }) => ({
  view: actorView({ ...actorDetails, ...parts }, [...usage.referencedByActions, ...usage.referencedByGraphs]),
  messages: [],
});
