import type { AddedToolName } from "../names/tool-names.ts";
import type { ImageFacts } from "../values/image.ts";
import type { JsonObject, JsonValue } from "../values/json.ts";

/** Where a tool that is not built in comes from. */
export type AddedSource = "own" | "mcp" | "skill";

/**
 * A tool that is not built in, as the plan that uses it records it. The record is made once for each attempt, so that a
 * resumed plan offers its model the same bytes, also when the tool has changed since.
 */
export interface AddedToolFacts {
  readonly name: AddedToolName;
  readonly description: string;
  readonly source: AddedSource;
  /** It may change files of the plan, or something outside of it. */
  readonly writes: boolean;
  /** Its changes are found by comparing the files before and after; it needs a sandbox. */
  readonly compared: boolean;
  /**
   * Its effects are outside of the plan and cannot be taken back: an interrupted call is not made a second time.
   */
  readonly once?: true;
  /** The JSON Schema of its parameters, of `type: object`. */
  readonly parameters: JsonObject;
  /** Everything else that its source needs to carry out a call. */
  readonly definition: JsonObject;
}

/**
 * The output of such a tool. The text is what a model reads; it is part of the record, so that a recorded call can be
 * told without the tool.
 */
export type AddedOutput = {
  readonly text: string;
  /** The tool did its work, and the work itself failed. */
  readonly failure?: string;
  readonly image?: Readonly<Pick<ImageFacts, keyof ImageFacts>>;
  /** For graphs and programs. */
  readonly data?: JsonValue;
  /** The hash of the whole text, when `text` is only a part of it. */
  readonly whole?: string;
};
