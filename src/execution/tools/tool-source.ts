import type { AddedSource, AddedToolFacts } from "../../domain/tool/added-tool.ts";
import type { AddedToolName } from "../../domain/names/tool-names.ts";
import type { Plan } from "../../domain/plan/plan.ts";
import type { AddedTool } from "./tool.ts";

/** Where tools that are not built in come from: the user's own, MCP servers, skills. */
export interface ToolSource {
  readonly source: AddedSource;
  /** The tools that a plan gets from here. Asked once for each attempt of a plan; the answer is recorded. */
  offered(wanted: WantedTools): Promise<readonly AddedToolFacts[]>;
  /** The tool behind recorded facts. Nothing is started for it before its first call. */
  bound(facts: AddedToolFacts): AddedTool;
}

export interface WantedTools {
  readonly plan: Plan;
  /** The names that the plan's actors give; undefined for everything that the user has added. */
  readonly names: readonly AddedToolName[] | undefined;
}
