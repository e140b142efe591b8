import {
  checkViewPolicy,
  POLICY_SETTINGS,
  type ContextPolicy,
  type ContextView,
  type ViewPolicy,
} from "../domain/context/context-policy.ts";
import type { QualifiedName } from "../domain/names/qualified-name.ts";
import { findContextPolicy, replaceContextView } from "../store/tables/context-policies.ts";
import type { Store } from "../store/port.ts";
import { requireProject } from "./project-links.ts";
import { recordSourceOf, recordEvent, type RecordSource, type ServiceParts } from "../plans/transition.ts";

export interface ProjectPolicy {
  readonly project: QualifiedName;
  readonly policy: ContextPolicy;
}

/**
 * The context policies of projects: what their models may see. Every change is one transaction with its event and its
 * audit entry.
 */
export class ContextPolicyService {
  readonly #store: Store;
  readonly #recordSource: RecordSource;

  constructor(parts: ServiceParts) {
    this.#store = parts.store;
    this.#recordSource = recordSourceOf(parts);
  }

  async getPolicy(project: string): Promise<ProjectPolicy> {
    return this.#store.read(async (reader) => {
      const { name } = await requireProject(reader, project);
      return { project: name, policy: await findContextPolicy(reader, name) };
    });
  }

  /**
   * Sets the settings in `change` and leaves the view's other settings as they are; with `clear` they are inherited
   * from now on. `strategies` are the names of all strategies that exist.
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
      await recordEvent(tx, this.#recordSource, {
        type: "project.context_changed",
        at: this.#recordSource.clock(),
        details,
      });
      return { project: name, policy: await findContextPolicy(tx, name) };
    });
  }
}

/** Only settings that are given: an undefined must not replace a stored value. */
function given(policy: ViewPolicy): ViewPolicy {
  return Object.fromEntries(
    POLICY_SETTINGS.flatMap((setting) => (policy[setting] === undefined ? [] : [[setting, policy[setting]]])),
  );
}
