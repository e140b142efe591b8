import type { ChangesetId } from "../names/ids.ts";
import type { ImageFacts } from "../values/image.ts";
import type { JsonValue } from "../values/json.ts";

/** Instructions of a project for every agent, such as `AGENTS.md`, word for word. */
export interface Instructions {
  /** In its resource. */
  readonly path: string;
  readonly text: string;
}

/**
 * How a tool call ended. A failure of the tool is an outcome like any other, from which its caller may continue: what
 * the call changed before it failed is there, and in the changeset. Everything else that can go wrong, such as a lost
 * lease, is thrown.
 */
export type ToolOutcome =
  | {
      readonly ok: true;
      /** For code: graphs read it, and it is recorded. */
      readonly output: JsonValue;
      /** The same for a model. Missing where nothing but the output is known; the output is told then. */
      readonly text?: string;
      /** An image that belongs to the text. */
      readonly image?: ImageFacts;
      /** The tool did its work, and the work itself failed: a command that ended with an exit code other than 0. */
      readonly failure?: string;
      /** The call changed files of the plan. */
      readonly changed?: true;
      /** Instructions for the place that the call is about, which the conversation did not have; recorded with it. */
      readonly instructions?: readonly Instructions[];
      readonly changeset?: ChangesetId;
    }
  | {
      readonly ok: false;
      readonly error: string;
      /** Missing when the call did not begin, because the plan may not use the tool. */
      readonly changeset?: ChangesetId;
      /** Missing when the outcome was read from a record. */
      readonly cause?: Error;
    };
