import type { Show } from "../terminal/show.ts";
import { actionView } from "./action-view.ts";

export const show: Show<"action.show"> = ({ action }) => ({ view: actionView(action), messages: [] });
