import packageJson from "../../../package.json" with { type: "json" };
import { info, type Outcome } from "../outcome.ts";

export const VERSION: string = packageJson.version;

export async function version(): Promise<Outcome> {
  const data = { version: VERSION, node: process.versions.node, sqlite: process.versions["sqlite"] ?? null };
  return {
    data,
    view: [],
    messages: info(`CleverAgents ${VERSION} (Node ${data.node}, SQLite ${data.sqlite ?? "?"})`),
  };
}
