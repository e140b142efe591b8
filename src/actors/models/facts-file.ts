import { readFileSync } from "node:fs";
import { rename, writeFile } from "node:fs/promises";
import { ConfigurationError } from "../../domain/errors/errors.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import { ifCode } from "../../platform/contained-path.ts";
import { FactsCatalog, FactsFile, parseFactsList, PACKAGED, PACKAGED_FACTS } from "./model-facts.ts";

/** More than any list of models has. */
const LIST_BYTES = 32 * 1024 * 1024;
const LIST_TIMEOUT_MS = 60_000;

/** The list that was fetched last, on top of the one in the package. */
export function readFacts(file: string): FactsCatalog {
  const text = readIfThere(file);
  if (text === undefined) return PACKAGED_FACTS;
  const parsed = FactsFile.safeParse(parsedJson(text));
  if (parsed.success) return new FactsCatalog([PACKAGED, parsed.data]);
  throw new ConfigurationError(`The list of models in ${file} cannot be read.`, {
    kept: "Nothing was sent.",
    next: [nextStep("models.refresh"), { text: `or remove ${file}` }],
  });
}

/** Fetches a list and keeps it; what was kept before is replaced only by a list that can be read. */
export async function refreshFacts(
  source: string,
  file: string,
  about: { readonly date: string; readonly signal: AbortSignal },
): Promise<FactsFile> {
  const list = parseFactsList(parsedJson(await fetched(source, about.signal)), { source, date: about.date });
  if (list === undefined) throw sourceError(source, "it is not a list of models in the format of models.dev");
  const made = `${file}.${process.pid}`;
  await writeFile(made, JSON.stringify(list), { mode: 0o600 });
  await rename(made, file);
  return list;
}

async function fetched(source: string, signal: AbortSignal): Promise<string> {
  const limited = AbortSignal.any([signal, AbortSignal.timeout(LIST_TIMEOUT_MS)]);
  let response: Response;
  try {
    response = await fetch(source, { signal: limited, headers: { accept: "application/json" } });
  } catch (error) {
    signal.throwIfAborted();
    const { cause } = error instanceof Error ? error : new Error(String(error));
    throw sourceError(source, cause instanceof Error ? cause.message : "it cannot be reached");
  }
  if (!response.ok) throw sourceError(source, `it answers ${response.status}`);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > LIST_BYTES) throw sourceError(source, "it is longer than a list of models can be");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function sourceError(source: string, why: string): ConfigurationError {
  return new ConfigurationError(`The list of models at ${source} could not be taken: ${why}.`, {
    kept: "The list that was there is kept.",
    next: [nextStep("config.set", { key: "models.source", value: "<url>" }), nextStep("models.list")],
    detail: { source },
  });
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    return ifCode("ENOENT")(error);
  }
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
