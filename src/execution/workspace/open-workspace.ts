/** The one place that decides between the two workspaces. */
import { CommandNetwork } from "../../confinement/network/command-network.ts";
import type { NetworkAccess } from "../../domain/profile/automation-profile.ts";
import { worksInPlace } from "../../domain/resource/resource.ts";
import { InPlaceWorkspace } from "./in-place-workspace.ts";
import { SandboxWorkspace } from "./sandbox-workspace.ts";
import type { Workspace, WorkspaceParts } from "./workspace.ts";

export function openWorkspace(parts: WorkspaceParts): Workspace {
  return worksInPlace(parts.sandbox) ? new InPlaceWorkspace(parts) : new SandboxWorkspace(parts);
}

/** The network of the commands of one resource; `checkout` is the user's. */
export function openNetwork(access: NetworkAccess, checkout: string): CommandNetwork {
  return new CommandNetwork(access, checkout);
}
