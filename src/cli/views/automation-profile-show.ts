import type { Show } from "../terminal/show.ts";
import { profileView } from "./profile-view.ts";

export const show: Show<"automation-profile.show"> = ({ profile }) => ({ view: profileView(profile), messages: [] });
