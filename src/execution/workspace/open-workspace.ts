/** The one place that decides between the two workspaces. */
import { worksInPlace } from "../../domain/resource/resource.ts";
import { InPlaceWorkspace } from "./in-place-workspace.ts";
import { SandboxWorkspace } from "./sandbox-workspace.ts";
import type { Workspace, WorkspaceParts } from "./workspace.ts";

export function openWorkspace(parts: WorkspaceParts): Workspace {
  return worksInPlace(parts.sandbox) ? new InPlaceWorkspace(parts) : new SandboxWorkspace(parts);
}
