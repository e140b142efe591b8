/** Where the client works: the directory that a call names, the client's first root, or that of the server. */
import { stat } from "node:fs/promises";
import { isAbsolute } from "node:path";
import { fileURLToPath } from "node:url";
import { UsageError } from "../domain/errors/errors.ts";

export async function requireDirectory(directory: string): Promise<void> {
  const problem = !isAbsolute(directory)
    ? "is not an absolute path"
    : await stat(directory).then(
        (found) => (found.isDirectory() ? undefined : "is not a directory"),
        () => "does not exist",
      );
  if (problem === undefined) return;
  throw new UsageError(`The directory ${directory} ${problem}.`, {
    kept: "Nothing was written.",
    next: [{ text: "give the absolute path of a directory that is, or is in, a git repository" }],
  });
}

/** The first one on this machine; undefined when there is none. */
export function rootDirectory(roots: readonly { readonly uri: string }[]): string | undefined {
  const found = roots.find(({ uri }) => URL.parse(uri)?.host === "");
  return found === undefined ? undefined : fileURLToPath(found.uri);
}
