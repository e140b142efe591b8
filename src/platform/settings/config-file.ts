import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { isMap, isScalar, LineCounter, parseDocument, type Document, type YAMLMap } from "yaml";
import { ConfigurationError } from "../../domain/errors/errors.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import { makeDirectories } from "../directories.ts";
import { withFileLock } from "../file-lock.ts";
import { requireOwn } from "../ownership.ts";

/**
 * The user's configuration: a YAML file of `key: value` with a section `projects` for values of single projects. Edits
 * keep the user's comments and order. Read-modify-write happens under a lock between processes and ends in one rename,
 * so two processes that set different keys both survive and a crash leaves the old file or the new one.
 */
export interface ConfigValues {
  readonly global: ReadonlyMap<string, string>;
  /** By lower-cased project name. */
  readonly projects: ReadonlyMap<string, ReadonlyMap<string, string>>;
}

export const CONFIG_TEMPLATE = `# CleverAgents configuration. \`agents config list\` shows every key, its value and where it comes from.
# core.format: rich
# core.automation-profile: supervised
# provider.ollama.base-url: http://127.0.0.1:11434/v1
# projects:
#   local/shop:
#     core.automation-profile: manual
`;

export function readConfig(file: string): ConfigValues {
  const document = load(file);
  const projects = new Map<string, ReadonlyMap<string, string>>();
  const section = document.get("projects");
  if (section !== undefined && !isMap(section))
    throw malformedConfigError(file, '"projects" must hold one section for each project');
  if (isMap(section)) {
    for (const { key, value } of section.items) {
      const name = isScalar(key) ? String(key.value) : "";
      if (!isMap(value))
        throw malformedConfigError(file, `the section of project "${name}" must hold key: value lines`);
      projects.set(name.toLowerCase(), scalars(value, file));
    }
  }
  const root = document.contents;
  return { global: isMap(root) ? scalars(root, file, "projects") : new Map(), projects };
}

/** Sets one value; `before` runs under the lock once the new text is ready, for what must be durable first. */
export async function setConfigValue(
  file: string,
  change: { key: string; value: string; project?: string | undefined },
  before: (previous: string | undefined) => Promise<void>,
  template: string = CONFIG_TEMPLATE,
): Promise<void> {
  await withFileLock(`${file}.lock`, async () => {
    const document = load(file, template);
    const path = change.project === undefined ? [change.key] : ["projects", change.project.toLowerCase(), change.key];
    const previous = document.getIn(path);
    if (document.contents === null) document.contents = document.createNode({});
    document.setIn(path, change.value);
    const text = document.toString({ lineWidth: 0 });
    await before(scalarText(previous));
    replaceFile(file, text);
  });
}

/** Removes one value, also one that is not valid; `before` as with `setConfigValue`. False when the file has none. */
export async function removeConfigValue(
  file: string,
  { key, project }: { readonly key: string; readonly project?: string | undefined },
  before: (previous: string) => Promise<void>,
): Promise<boolean> {
  let removed = false;
  await withFileLock(`${file}.lock`, async () => {
    if (!existsSync(file)) return;
    const document = load(file);
    const path = project === undefined ? [] : ["projects", project.toLowerCase()];
    const section = path.length === 0 ? document.contents : document.getIn(path);
    if (!isMap(section) || !section.has(key)) return;
    await before(scalarText(section.get(key)) ?? "");
    removeItems(section, new Set([key]));
    // An empty section would be written as "{}".
    for (let depth = path.length; depth > 0; depth -= 1) {
      const outer = document.getIn(path.slice(0, depth));
      if (isMap(outer) && outer.items.length === 0) document.deleteIn(path.slice(0, depth));
    }
    replaceFile(file, isEmptyMap(document.contents) ? commentsOf(document) : document.toString({ lineWidth: 0 }));
    removed = true;
  });
  return removed;
}

function isEmptyMap(contents: unknown): boolean {
  return isMap(contents) && contents.items.length === 0;
}

/** The text of a document whose last value is gone: its comments alone. */
function commentsOf(document: Document): string {
  const { contents } = document;
  const comments = [
    document.commentBefore,
    isMap(contents) ? contents.commentBefore : undefined,
    isMap(contents) ? contents.comment : undefined,
    document.comment,
  ];
  return comments.flatMap((text) => (text == null ? [] : text.split("\n").map((line) => `#${line}\n`))).join("");
}

/** Takes values out of the file; `keep` runs under the lock with them before they are gone, to write them elsewhere. */
export async function takeConfigKeys(
  file: string,
  isTaken: (key: string) => boolean,
  keep: (taken: ReadonlyMap<string, string>) => Promise<void>,
): Promise<void> {
  await withFileLock(`${file}.lock`, async () => {
    const document = load(file);
    const { contents } = document;
    const taken = isMap(contents) ? [...scalars(contents, file, "projects")].filter(([key]) => isTaken(key)) : [];
    if (taken.length === 0) return;
    await keep(new Map(taken));
    if (isMap(contents)) removeItems(contents, new Set(taken.map(([key]) => key)));
    replaceFile(file, document.toString({ lineWidth: 0 }));
  });
}

/** The comments above what is removed stay: they may be about all that follows. */
function removeItems(map: YAMLMap, keys: ReadonlySet<string>): void {
  let above: string[] = [];
  map.items = map.items.filter(({ key }) => {
    if (!isScalar(key)) return true;
    const comments = [...above, ...(key.commentBefore == null ? [] : [key.commentBefore])];
    const removed = keys.has(String(key.value));
    above = removed ? comments : [];
    if (!removed && comments.length > 0) key.commentBefore = comments.join("\n");
    return !removed;
  });
  if (above.length > 0) map.comment = [...above, ...(map.comment == null ? [] : [map.comment])].join("\n");
}

/** The text of the file as it is; the template where there is none. */
export function configText(file: string): string {
  requireOwn(file, "The configuration file");
  return existsSync(file) ? readFileSync(file, "utf8") : CONFIG_TEMPLATE;
}

/**
 * Writes the whole file if it still has the text that the caller saw; false when it was changed meanwhile. `before` as
 * with `setConfigValue`.
 */
export async function replaceConfig(
  file: string,
  { seen, text }: { readonly seen: string; readonly text: string },
  before: () => Promise<void>,
): Promise<boolean> {
  let replaced = false;
  await withFileLock(`${file}.lock`, async () => {
    if (configText(file) !== seen) return;
    await before();
    replaceFile(file, text);
    replaced = true;
  });
  return replaced;
}

/** Writes the template unless there is a file already; whether it did. */
export function createConfig(file: string): boolean {
  try {
    makeDirectories(dirname(file));
    const descriptor = openSync(file, "wx", 0o600);
    writeSync(descriptor, CONFIG_TEMPLATE);
    closeSync(descriptor);
    return true;
  } catch (error) {
    if (isCode(error, "EEXIST") && existsSync(file)) return false;
    throw unusableConfigError(file, error);
  }
}

function load(file: string, template: string = CONFIG_TEMPLATE): Document {
  requireOwn(file, "The configuration file");
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if (isCode(error, "ENOENT")) return parseDocument(template);
    throw unusableConfigError(file, error);
  }
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter });
  const [error] = document.errors;
  if (error !== undefined) {
    const { line, col } = lineCounter.linePos(error.pos[0]);
    throw malformedConfigError(file, `line ${line}, column ${col}: ${error.message.split("\n")[0]}`);
  }
  if (document.contents !== null && !isMap(document.contents))
    throw malformedConfigError(file, "it must hold key: value lines");
  return document;
}

function scalars(map: YAMLMap, file: string, except?: string): Map<string, string> {
  const values = new Map<string, string>();
  for (const { key, value } of map.items) {
    const name = isScalar(key) ? String(key.value) : "";
    if (name === except) continue;
    const text = isScalar(value) ? scalarText(value.value) : undefined;
    if (text === undefined) throw malformedConfigError(file, `"${name}" needs a single value`);
    values.set(name, text);
  }
  return values;
}

function scalarText(value: unknown): string | undefined {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean"
    ? String(value)
    : undefined;
}

/** Old or new, never half: the new text is durable under another name before it takes the file's place. */
export function replaceFile(file: string, text: string): void {
  const temporary = `${file}.${process.pid}.tmp`;
  try {
    const descriptor = openSync(temporary, "w", 0o600);
    writeSync(descriptor, text);
    fsyncSync(descriptor);
    closeSync(descriptor);
    renameSync(temporary, file);
    const directory = openSync(dirname(file), "r");
    fsyncSync(directory);
    closeSync(directory);
  } catch (error) {
    throw unusableConfigError(file, error);
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}

function malformedConfigError(file: string, why: string): ConfigurationError {
  return new ConfigurationError(`The configuration file ${file} is not usable: ${why}.`, {
    kept: "The file was left as it is.",
    next: [{ text: `correct ${file}` }, { text: "or name another with --config-path" }],
  });
}

function unusableConfigError(file: string, error: unknown): ConfigurationError {
  const why = error instanceof Error ? error.message : String(error);
  return new ConfigurationError(`The configuration file ${file} cannot be used: ${why}.`, {
    cause: error,
    kept: "Nothing was changed.",
    next: [{ text: "check its path and permissions" }, nextStep("diagnostics")],
  });
}
