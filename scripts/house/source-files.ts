/** The files of the project by room: `src` is divided into rooms, each other folder with code is one. */
import { globSync, readFileSync } from "node:fs";

export interface SourceFile {
  readonly path: string;
  /** The folder below `src`, or the top folder elsewhere; "" for the doors of the package. */
  readonly room: string;
  readonly kind: "source" | "test";
  readonly text: string;
  readonly lines: number;
}

/** Code that only tests use, in `testing` folders, is source: it has to be read like any other. */
export function sourceFiles(folders = "{src,scripts,bench,attack,features}"): SourceFile[] {
  return globSync(`${folders}/**/*.ts`, { exclude: ["**/node_modules/**", "bench/corpus/**"] })
    .toSorted()
    .map((path) => {
      const text = readFileSync(path, "utf8");
      return { path, room: roomOf(path), kind: kindOf(path), text, lines: text.split("\n").length - 1 };
    });
}

/** Code that is part of the program: no tests and nothing that only tests use. */
export function programFiles(): SourceFile[] {
  return sourceFiles("src").filter(({ path, kind }) => kind === "source" && !path.includes("/testing/"));
}

export function kindOf(path: string): SourceFile["kind"] {
  return path.endsWith(".test.ts") ? "test" : "source";
}

export function roomOf(path: string): string {
  const [top = "", room = "", ...rest] = path.split("/");
  if (top !== "src") return top;
  return rest.length > 0 ? room : "";
}
