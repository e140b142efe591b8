import {
  checkViewPolicy,
  POLICY_SETTINGS,
  type ContextPolicy,
  type ContextView,
  type ViewPolicy,
} from "../domain/context-policy.ts";
import type { QualifiedName } from "../domain/qualified-name.ts";
import { findContextPolicy, replaceContextView } from "../store/context-policies.ts";
import type { Store } from "../store/store.ts";
import { requireProject } from "./project-links.ts";
import { ambienceOf, recordEvent, type Ambience, type ServiceParts } from "./transition.ts";

export interface ProjectPolicy {
  readonly project: QualifiedName;
  readonly policy: ContextPolicy;
}

/** What the models of a project may see. Every change is one transaction with its event and its audit entry. */
export class ContextPolicyService {
  readonly #store: Store;
  readonly #ambience: Ambience;

  constructor(parts: ServiceParts) {
    this.#store = parts.store;
    this.#ambience = ambienceOf(parts);
  }

  async getPolicy(project: string): Promise<ProjectPolicy> {
    return this.#store.read(async (reader) => {
      const { name } = await requireProject(reader, project);
      return { project: name, policy: await findContextPolicy(reader, name) };
    });
  }

  /**
   * Sets what `change` names and leaves the view's other settings as they are; with `clear` they are inherited from now on.
   * `strategies` are those there are.
   */
  async setView(
    project: string,
    view: ContextView,
    change: ViewPolicy,
    options: { clear?: boolean; strategies: readonly string[] },
  ): Promise<ProjectPolicy> {
    const checked = checkViewPolicy(change, options.strategies);
    return this.#store.transaction(async (tx) => {
      const { name } = await requireProject(tx, project);
      const before = (await findContextPolicy(tx, name))[view] ?? {};
      const after = { ...(options.clear === true ? {} : before), ...given(checked) };
      await replaceContextView(tx, name, view, after);
      const details = { project: name, view, from: before, to: after };
      await recordEvent(tx, this.#ambience, { type: "project.context_changed", at: this.#ambience.clock(), details });
      return { project: name, policy: await findContextPolicy(tx, name) };
    });
  }
}

/** Only what is set: an undefined must not take the place of what was there. */
function given(policy: ViewPolicy): ViewPolicy {
  return Object.fromEntries(
    POLICY_SETTINGS.flatMap((setting) => (policy[setting] === undefined ? [] : [[setting, policy[setting]]])),
  );
}
