/**
 * Where an import of TypeScript or JavaScript leads: relative ones by the rules of bundlers and compilers (extensions
 * left out or those of the compiled file, index files), others by `paths` of the nearest tsconfig.json and by the names
 * of packages in the same tree.
 */
import { inside, joined, type TreePaths, upwards } from "./tree-paths.ts";

const EXTENSIONS = [".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".d.ts", ".d.mts", ".d.cts", ".json"];
/** A specifier often names the file that will be compiled. */
const SOURCES: Readonly<Record<string, readonly string[]>> = {
  ".js": [".ts", ".tsx", ".d.ts", ".jsx"],
  ".jsx": [".tsx"],
  ".mjs": [".mts", ".d.mts"],
  ".cjs": [".cts", ".d.cts"],
};
/** Conditions of `exports`, in the order in which sources are likely. */
const CONDITIONS = ["source", "types", "import", "module", "default", "node", "browser", "require"];

export class JavaScriptImports {
  readonly #paths: TreePaths;
  #packages: ReadonlyMap<string, string> | undefined;
  readonly #settings = new Map<string, Readonly<Record<string, unknown>> | undefined>();

  constructor(paths: TreePaths) {
    this.#paths = paths;
  }

  resolve(directory: string, specifier: string): readonly string[] {
    if (/^\.\.?(?:\/|$)/.test(specifier)) return this.#file(joined(directory, specifier));
    if (specifier.startsWith("/") || specifier.includes(":")) return [];
    const found = this.#byTsconfig(directory, specifier);
    if (found.length > 0) return found;
    return specifier.startsWith("#") ? this.#byOwnPackage(directory, specifier) : this.#byPackage(specifier);
  }

  /** The file of a path as it is written, with or without extension or index file. */
  #file(path: string | undefined): string[] {
    if (path === undefined) return [];
    if (this.#paths.has(path)) return [path];
    const dot = path.lastIndexOf(".");
    const stem = path.slice(0, Math.max(0, dot));
    for (const source of SOURCES[path.slice(dot)] ?? []) if (this.#paths.has(stem + source)) return [stem + source];
    for (const known of EXTENSIONS) if (this.#paths.has(path + known)) return [path + known];
    return this.#paths.first(EXTENSIONS.map((known) => inside(path, `index${known}`)));
  }

  #byTsconfig(directory: string, specifier: string): string[] {
    for (const above of upwards(directory)) {
      const options = this.#json(inside(above, "tsconfig.json"))?.["compilerOptions"];
      if (!isRecord(options)) continue;
      const base = joined(above, typeof options["baseUrl"] === "string" ? options["baseUrl"] : ".") ?? above;
      const paths = isRecord(options["paths"]) ? options["paths"] : {};
      for (const [pattern, targets] of Object.entries(paths)) {
        const star = matchStar(pattern, specifier);
        if (star === undefined || !Array.isArray(targets)) continue;
        for (const target of targets) {
          const found =
            typeof target === "string"
              ? this.#file(
                  joined(
                    base,
                    target.replace("*", () => star),
                  ),
                )
              : [];
          if (found.length > 0) return found;
        }
      }
      return typeof options["baseUrl"] === "string" ? this.#file(joined(base, specifier)) : [];
    }
    return [];
  }

  #byPackage(specifier: string): string[] {
    const [, name = "", rest = ""] = /^((?:@[^/]+\/)?[^/]+)(?:\/(.*))?$/s.exec(specifier) ?? [];
    const directory = this.#packageDirectories().get(name);
    if (directory === undefined) return [];
    const manifest = this.#json(inside(directory, "package.json")) ?? {};
    const targets = [
      ...entryPoints(manifest["exports"], rest === "" ? "." : `./${rest}`),
      ...(rest === "" ? [manifest["source"], manifest["types"], manifest["module"], manifest["main"]] : [rest]),
      ...(rest === "" ? ["index", "src/index"] : [`src/${rest}`]),
    ];
    return this.#target(directory, targets);
  }

  #byOwnPackage(directory: string, specifier: string): string[] {
    for (const above of upwards(directory)) {
      const manifest = this.#json(inside(above, "package.json"));
      if (manifest !== undefined) return this.#target(above, entryPoints(manifest["imports"], specifier));
    }
    return [];
  }

  /** Built files are usually not in the tree; the sources they are built from are. */
  #target(directory: string, targets: readonly unknown[]): string[] {
    for (const target of targets) {
      if (typeof target !== "string") continue;
      const sources = target.replace(/^(?:\.\/)?(?:dist|lib|build|out)\/(?:(?:esm|cjs|types)\/)?/, "src/");
      for (const candidate of new Set([target, sources, sources.replace(/(?:\.d)?\.[cm]?[jt]sx?$/, "")])) {
        const found = this.#file(joined(directory, candidate));
        if (found.length > 0) return found;
      }
    }
    return [];
  }

  #packageDirectories(): ReadonlyMap<string, string> {
    if (this.#packages === undefined) {
      const packages = new Map<string, string>();
      for (const path of this.#paths.named("package.json")) {
        const name = this.#json(path)?.["name"];
        if (typeof name === "string" && !packages.has(name)) packages.set(name, path.slice(0, -"/package.json".length));
      }
      this.#packages = packages;
    }
    return this.#packages;
  }

  #json(path: string): Readonly<Record<string, unknown>> | undefined {
    if (!this.#settings.has(path)) this.#settings.set(path, parseSettings(this.#paths.text(path)));
    return this.#settings.get(path);
  }
}

function entryPoints(entries: unknown, subpath: string): string[] {
  if (typeof entries === "string") return subpath === "." ? [entries] : [];
  if (!isRecord(entries)) return [];
  const bySubpath = Object.keys(entries).some((key) => key.startsWith(".") || key.startsWith("#"));
  if (!bySubpath) return subpath === "." ? targetsIn(entries) : [];
  if (Object.hasOwn(entries, subpath)) return targetsIn(entries[subpath]);
  return Object.entries(entries).flatMap(([pattern, target]) => {
    const star = pattern.includes("*") ? matchStar(pattern, subpath) : undefined;
    return star === undefined ? [] : targetsIn(target).map((path) => path.replaceAll("*", () => star));
  });
}

function targetsIn(target: unknown): string[] {
  if (typeof target === "string") return [target];
  if (Array.isArray(target)) return target.flatMap(targetsIn);
  return isRecord(target) ? CONDITIONS.flatMap((condition) => targetsIn(target[condition])) : [];
}

/** The text that the star stands for; "" for a pattern without a star that is equal. */
function matchStar(pattern: string, text: string): string | undefined {
  const [before = "", after] = pattern.split("*", 2);
  if (after === undefined) return pattern === text ? "" : undefined;
  if (text.length < before.length + after.length || !text.startsWith(before) || !text.endsWith(after)) return undefined;
  return text.slice(before.length, text.length - after.length);
}

/** JSON as tools accept it: with comments and trailing commas. Undefined for anything else. */
function parseSettings(text: string | undefined): Readonly<Record<string, unknown>> | undefined {
  if (text === undefined) return undefined;
  const plain = text
    .replaceAll(/("(?:\\.|[^"\\])*")|\/\/[^\n]*|\/\*[\s\S]*?\*\//g, "$1")
    .replaceAll(/("(?:\\.|[^"\\])*")|,(?=\s*[}\]])/g, "$1");
  try {
    const value: unknown = JSON.parse(plain);
    return isRecord(value) ? value : undefined;
  } catch {
    // The settings in it cannot be followed; the tool they belong to will report the error.
    return undefined;
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
