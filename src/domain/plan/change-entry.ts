import type { ChangesetId } from "../names/ids.ts";
import { ValidationError, type ValidationIssue } from "../errors/errors.ts";
import { lineProblem, shown, textProblem } from "../text/text.ts";

/** One changed path, credited to one tool call and one decision. */
export const CHANGE_OPERATIONS = ["create", "modify", "delete", "rename", "mode"] as const;
/** The kind of a change, derived from the file before and after. */
export type ChangeOperation = (typeof CHANGE_OPERATIONS)[number];

/** The content of a path at one moment: what it holds (SHA-256) and its mode bits. */
export interface FileImage {
  readonly hash: string;
  readonly mode: number;
}

/** A file as a caller has it: the bytes themselves, which are then kept, or only their hash. */
export type FileImageInput = FileImage | { readonly content: Uint8Array; readonly mode: number };

/** A change as its caller reports it. */
export interface ChangeEntryInput {
  readonly resource: string;
  readonly path: string;
  /** Where a renamed file was before. */
  readonly fromPath?: string | undefined;
  readonly operation: ChangeOperation;
  readonly before?: FileImageInput | undefined;
  readonly after?: FileImageInput | undefined;
  readonly toolInvocation?: string | undefined;
  readonly decision?: string | undefined;
}

/** One recorded change of one file. */
export interface ChangeEntry {
  readonly changesetId: ChangesetId;
  /** 1, 2, 3 … without a gap within its changeset. */
  readonly sequence: number;
  readonly resource: string;
  readonly path: string;
  readonly fromPath: string | undefined;
  readonly operation: ChangeOperation;
  readonly before: FileImage | undefined;
  readonly after: FileImage | undefined;
  readonly toolInvocation: string | undefined;
  readonly decision: string | undefined;
  readonly at: number;
}

const HASH = /^[0-9a-f]{64}$/;
const ALIAS = /^[A-Za-z][A-Za-z0-9_-]{0,99}$/;
const LINK = 0o120000;
const MODES = new Set([0o100644, 0o100755, LINK]);

/** Which of before and after an operation has. */
const IMAGES = {
  create: { before: false, after: true },
  modify: { before: true, after: true },
  delete: { before: true, after: false },
  rename: { before: true, after: true },
  mode: { before: true, after: true },
} as const satisfies Record<ChangeOperation, { before: boolean; after: boolean }>;

/** The kind of change from one content to another; undefined when they are the same. */
export function operationBetween(
  before: FileImage | undefined,
  after: FileImage | undefined,
): Exclude<ChangeOperation, "rename"> | undefined {
  if (before === undefined) return after === undefined ? undefined : "create";
  if (after === undefined) return "delete";
  if (before.hash !== after.hash || (before.mode === LINK) !== (after.mode === LINK)) return "modify";
  return before.mode === after.mode ? undefined : "mode";
}

export type CheckedEntry = Omit<ChangeEntry, "changesetId" | "sequence" | "at">;

/** The entry with every content already replaced by its hash. */
export type HashedEntryInput = Omit<ChangeEntryInput, "before" | "after"> & {
  readonly before?: FileImage | undefined;
  readonly after?: FileImage | undefined;
};

export function parseChangeEntry(input: HashedEntryInput): CheckedEntry {
  const issues: ValidationIssue[] = [];
  const complain = (path: string, message: string): void => void issues.push({ path, message });
  if (typeof input.resource !== "string" || !ALIAS.test(input.resource)) {
    complain("resource", `resource ${shown(input.resource)} is not an alias`);
  }
  complainAboutPath(input.path, "path", complain);
  if (!CHANGE_OPERATIONS.includes(input.operation)) {
    complain("operation", `operation ${shown(input.operation)} is unknown`);
  } else {
    if (input.operation === "rename") complainAboutPath(input.fromPath ?? "", "fromPath", complain);
    else if (input.fromPath !== undefined) complain("fromPath", "only a rename has a fromPath");
    const expected = IMAGES[input.operation];
    complainAboutImage(input.before, "before", expected.before, input.operation, complain);
    complainAboutImage(input.after, "after", expected.after, input.operation, complain);
  }
  for (const key of ["toolInvocation", "decision"] as const) {
    const value: unknown = input[key];
    if (value === undefined) continue;
    const problem = typeof value === "string" ? lineProblem(value, 200) : "is not text";
    if (problem !== undefined) complain(key, `${key} ${problem}`);
  }
  if (issues.length > 0) {
    throw new ValidationError(
      `The change entry is not valid: ${issues.map(({ message }) => message).join("; ")}.`,
      issues,
    );
  }
  const { resource, path, operation } = input;
  return {
    resource,
    path,
    fromPath: input.fromPath,
    operation,
    before: input.before,
    after: input.after,
    toolInvocation: input.toolInvocation,
    decision: input.decision,
  };
}

/** Deeper paths are refused: code that walks one holds an open directory, or a stack frame, for each segment. */
export const PATH_SEGMENTS = 200;

/** Undefined when `path` names something below a resource's root, by segments and not by string prefix. */
export function relativePathProblem(path: string): string | undefined {
  if (typeof path !== "string" || path === "") return "is empty";
  const problem = textProblem(path, 4096);
  if (problem !== undefined) return problem;
  if (/[\n\r\t]/.test(path)) return "contains a line break or tab";
  if (path.startsWith("/") || /^[A-Za-z]:/.test(path)) return "is absolute";
  if (path.includes("\\")) return 'contains "\\" (separate segments with "/")';
  const segments = path.split("/");
  if (segments.length > PATH_SEGMENTS) return `has more than ${PATH_SEGMENTS} segments`;
  if (segments.includes("..")) return 'contains ".."';
  if (segments.some((segment) => segment === "" || segment === ".")) return "has an empty segment";
  if (segments.some(namesGitDirectory)) return "lies inside .git";
  return undefined;
}

/**
 * Whether some file system takes the segment for ".git": case, compatibility forms, ignored characters, Windows' short
 * names.
 */
function namesGitDirectory(segment: string): boolean {
  const folded = segment
    .normalize("NFKC")
    .toLowerCase()
    .replaceAll(/\p{Default_Ignorable_Code_Point}/gu, "")
    .replace(/:.*$/, "")
    .replace(/[. ]+$/, "");
  return folded === ".git" || /^git~\d+$/.test(folded);
}

type Complain = (path: string, message: string) => void;

function complainAboutPath(path: string, field: string, complain: Complain): void {
  const problem = relativePathProblem(path);
  if (problem !== undefined) complain(field, `${field} ${shown(path)} ${problem}`);
}

function complainAboutImage(
  image: FileImage | undefined,
  field: string,
  expected: boolean,
  operation: ChangeOperation,
  complain: Complain,
): void {
  if (expected !== (image !== undefined)) {
    complain(field, `a ${operation} ${expected ? "needs" : "cannot have"} "${field}"`);
  } else if (image !== undefined && !isImage(image)) {
    complain(field, `"${field}" needs a SHA-256 hash and a mode of 100644, 100755 or 120000 (octal)`);
  }
}

function isImage(image: unknown): boolean {
  if (typeof image !== "object" || image === null || !("hash" in image) || !("mode" in image)) return false;
  const { hash, mode } = image;
  return typeof hash === "string" && HASH.test(hash) && typeof mode === "number" && MODES.has(mode);
}
