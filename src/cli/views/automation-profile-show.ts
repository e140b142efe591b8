import type { Show } from "../terminal/show.ts";
import { profileView } from "./automation-profile.ts";

export const show: Show<"automation-profile.show"> = ({ profile }) => ({ view: profileView(profile), messages: [] });
