import { info } from "../terminal/outcome.ts";
import type { Show } from "../terminal/show.ts";

export const show: Show<"config.set"> = ({ key, value, project, configPath }) => {
  // Keys of providers are kept apart from the configuration file.
  const where = configPath.endsWith("credentials.yaml") ? `, kept in ${configPath}` : "";
  return { view: [], messages: info(`${key} is now ${value}${project === null ? "" : ` for ${project}`}${where}.`) };
};
