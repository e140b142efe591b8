import { orDash } from "../terminal/format.ts";
import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";

export const show: Show<"config.list"> = ({ settings, configPath }) => ({
  view: [
    {
      kind: "table",
      title: "Configuration",
      columns: [{ keep: "Key" }, "Value", "From", "Meaning"],
      rows: settings.map(({ key, value, level, description }) => [key, orDash(value ?? undefined), level, description]),
      empty: "",
    },
  ],
  messages: info(`Read from ${configPath}.`),
});
