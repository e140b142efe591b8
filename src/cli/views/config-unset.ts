import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";

export const show: Show<"config.unset"> = ({ key, removed, project, value, level, configPath }) => {
  const where = project === null ? "" : ` for ${project}`;
  const now = value === null ? "It has no value now." : `It is now ${value} (${level}).`;
  if (removed) return { view: [], messages: info(`${key} is no longer set${where} in ${configPath}. ${now}`) };
  const text = `${key} was not set${where} in ${configPath}. ${now}`;
  return { view: [], messages: [{ level: "warning", text }], status: "warn" };
};
