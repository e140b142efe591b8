import type { Show } from "../show.ts";
import { actionView } from "./action.ts";

export const show: Show<"action.show"> = ({ action }) => ({ view: actionView(action), messages: [] });
