import { nextStep } from "../../domain/errors/next-step.ts";
import { count } from "../terminal/format.ts";
import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";

export const show: Show<"automation-profile.list"> = ({ profiles, summary }) => ({
  view: [
    {
      kind: "table",
      title: "Automation profiles",
      columns: [{ keep: "Name" }, "From", "Description"],
      rows: profiles.map(({ name, builtin, description }) => [name, builtin ? "built in" : "you", description]),
      empty: "No automation profiles of this namespace.",
    },
  ],
  messages: info(`${count(summary.total, "automation profile")} listed.`),
  next: [nextStep("automation-profile.show", { profile: "<profile>" })],
});
