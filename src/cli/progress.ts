import type { OutputFormat } from "../domain/settings.ts";

/** One line on stderr for each thing that is being done; nothing where a machine reads. */
export function progress(format: OutputFormat): (doing: string) => void {
  if (format === "json" || format === "yaml") return () => undefined;
  return (doing) => void process.stderr.write(`${doing} …\n`);
}
