/** Which files of a tree import which; worked out when it is first asked for. */
import type { ReadableFile, TreeReader } from "./index-reader.ts";

export class ImportMap {
  constructor(_tree: TreeReader) {}

  importsOf(_file: ReadableFile): readonly ReadableFile[] {
    return [];
  }

  importersOf(_file: ReadableFile): readonly ReadableFile[] {
    return [];
  }
}
