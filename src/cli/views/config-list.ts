import { orDash } from "../format.ts";
import { info } from "../outcome.ts";
import type { Show } from "../show.ts";

export const show: Show<"config.list"> = ({ settings, configPath }) => ({
  view: [
    {
      kind: "table",
      title: "Configuration",
      columns: ["Key", "Value", "From", "Meaning"],
      rows: settings.map(({ key, value, level, description }) => [key, orDash(value ?? undefined), level, description]),
      empty: "",
    },
  ],
  messages: info(`Read from ${configPath}.`),
});
