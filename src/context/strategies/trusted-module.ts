/**
 * Custom code is loaded only from trusted places: a file, or a directory and everything below it. The real path counts,
 * so a link from a trusted place to another one does not help.
 */
import { realpathSync } from "node:fs";
import { sep } from "node:path";
import { pathToFileURL } from "node:url";
import { ConfigurationError } from "../../domain/errors/errors.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import { shown } from "../../domain/text/text.ts";

export interface LoadedModule {
  /** Of the real path. */
  readonly url: string;
  readonly exports: Readonly<Record<string, unknown>>;
}

/**
 * @param trusted absolute paths of files and directories.
 * @throws ConfigurationError if the module does not exist, is not trusted or cannot be loaded.
 */
export async function loadTrusted(path: string, trusted: readonly string[]): Promise<LoadedModule> {
  const real = realPathOf(path);
  if (real === undefined) {
    throw new ConfigurationError(`The module ${shown(path, 200)} does not exist or cannot be reached.`, {
      kept: "Nothing was loaded.",
      detail: { module: path },
    });
  }
  if (!trusted.some((place) => covers(place, real))) {
    const listed =
      trusted.length === 0 ? "nothing is" : `trusted: ${trusted.map((place) => shown(place, 200)).join(", ")}`;
    throw new ConfigurationError(`The module ${shown(real, 200)} is not trusted (${listed}).`, {
      kept: "Nothing was loaded.",
      next: [
        nextStep(
          "config.set",
          { key: "context.trusted-modules", value: [...trusted, real].join(",") },
          "read it, then",
        ),
      ],
      detail: { module: real, trusted },
    });
  }
  const url = pathToFileURL(real).href;
  try {
    const exports: Readonly<Record<string, unknown>> = await import(url);
    return { url, exports };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ConfigurationError(`The module ${shown(real, 200)} cannot be loaded: ${shown(why, 300)}.`, {
      cause: error,
      kept: "Nothing was loaded.",
      detail: { module: real },
    });
  }
}

function covers(place: string, real: string): boolean {
  const trusted = realPathOf(place);
  if (trusted === undefined) return false;
  return real === trusted || real.startsWith(trusted.endsWith(sep) ? trusted : trusted + sep);
}

function realPathOf(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}
