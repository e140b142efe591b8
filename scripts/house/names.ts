/** Names that two rooms give to different things: of files, and of exported types. */
import { posix } from "node:path";
import type { SourceFile } from "./source-files.ts";

/** A name with the places that have it. */
export type NamedTwice = readonly [name: string, places: readonly string[]];

const EXPORTED_TYPE = /^export (?:abstract )?(?:interface|type|class) (\w+)/gm;

/** A view is named after its operation on purpose: one shows what the other does. */
const VIEW = "src/cli/views/";
const OPERATION = "src/app/operations/";

export function filesNamedTwice(files: readonly SourceFile[]): NamedTwice[] {
  const operations = new Set(files.map(({ path }) => path).filter((path) => path.startsWith(OPERATION)));
  const isViewOfOperation = ({ path }: SourceFile): boolean =>
    path.startsWith(VIEW) && operations.has(path.replace(VIEW, OPERATION));
  return namedTwice(
    files
      .filter((file) => !isViewOfOperation(file))
      .map(({ path, room }) => ({ name: posix.basename(path), place: path, room })),
  );
}

export function typesNamedTwice(files: readonly SourceFile[]): NamedTwice[] {
  return namedTwice(
    files.flatMap(({ path, room, text }) =>
      Array.from(text.matchAll(EXPORTED_TYPE), ([, name = ""]) => ({ name, place: path, room })),
    ),
  );
}

function namedTwice(
  all: readonly { readonly name: string; readonly place: string; readonly room: string }[],
): NamedTwice[] {
  return [...Map.groupBy(all, ({ name }) => name)]
    .filter(([, places]) => new Set(places.map(({ room }) => room)).size > 1)
    .map(([name, places]): NamedTwice => [name, places.map(({ place }) => place)])
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
}
