import type { Attachment, AttachmentScope } from "../domain/validation/attachment.ts";
import { ConflictError, NotFoundError, UsageError, ValidationError } from "../domain/errors/errors.ts";
import { nextStep, type NextStep } from "../domain/errors/next-step.ts";
import type { AttachmentId, PlanId } from "../domain/names/ids.ts";
import type { Plan } from "../domain/plan/plan.ts";
import { stateText } from "../domain/plan/standing.ts";
import { nameKey, parseQualifiedName, type QualifiedName } from "../domain/names/qualified-name.ts";
import { shown } from "../domain/text/text.ts";
import { isTerminal, statusKey } from "../domain/plan/transitions.ts";
import type { Validation, ValidationDefinition, ValidationInput } from "../domain/validation/validation.ts";
import { findPlan } from "../store/tables/plans.ts";
import { findLinks } from "../store/tables/resources.ts";
import type { Reader, Store, Tx } from "../store/port.ts";
import {
  attachmentsByPrefix,
  deleteValidation,
  findAttachments,
  findValidation,
  findValidations,
  insertAttachment,
  insertValidation,
  updateValidation,
} from "../store/tables/validations.ts";
import { attachmentDetails, removeAttachment, stillAttachedError } from "./attachments.ts";
import { requireProject, requireResource } from "./project-links.ts";
import { requireSeen, type ReplaceRules } from "../plans/replace-rules.ts";
import { recordSourceOf, recordEvent, type RecordSource, type ServiceParts } from "../plans/transition.ts";
import { notFoundError } from "../domain/names/not-found.ts";
import { checkValidation } from "./validation-file.ts";

export interface ListedValidation extends Validation {
  /** Where it is attached, the oldest first. */
  readonly attachments: readonly Attachment[];
}

export interface AttachInput {
  readonly resource: string;
  readonly validation: string;
  /** Neither: everywhere the resource is used. */
  readonly project?: string | undefined;
  readonly plan?: PlanId | undefined;
}

/**
 * Registered validations and what they are attached to. The service holds no state; each change is one transaction with
 * its event and its audit entry, and of any number of concurrent callers one adds a name or makes an attachment.
 *
 * ```ts
 * const validations = new ValidationService({ store });
 * await validations.addValidation({ name: "tests", description: "All tests pass", command: "npm test" });
 * await validations.attach({ resource: "api", validation: "tests" });
 * ```
 */
export class ValidationService {
  readonly #store: Store;
  readonly #recordSource: RecordSource;

  constructor(parts: ServiceParts) {
    this.#store = parts.store;
    this.#recordSource = recordSourceOf(parts);
  }

  /** With `replace`, plans that run it from now on run the new one. */
  async addValidation(input: ValidationInput, rules: ReplaceRules = {}): Promise<ListedValidation> {
    const definition = checkValidation(input);
    const { name, mode } = definition;
    return this.#store.transaction(async (tx) => {
      const at = this.#recordSource.clock();
      const before = rules.replace === true ? await findValidation(tx, name) : undefined;
      requireSeen(`validation "${name}"`, before, rules.seen);
      if (before !== undefined) return this.#replace(tx, before, { ...definition, updatedAt: at });
      if (!(await insertValidation(tx, definition, at))) {
        throw new ConflictError(
          `There is already a validation "${name}".`,
          { expected: "no such validation", actual: name, code: "already_exists" },
          {
            kept: "The existing validation was not changed.",
            next: [
              nextStep("validation.show", { validation: name }),
              nextStep("validation.add", { definition: { file: "<file>" }, replace: true }),
            ],
          },
        );
      }
      await recordEvent(tx, this.#recordSource, { type: "validation.added", at, details: { validation: name, mode } });
      return { ...definition, version: 1, createdAt: at, updatedAt: at, attachments: [] };
    });
  }

  async #replace(
    tx: Tx,
    before: Validation,
    after: ValidationDefinition & Pick<Validation, "updatedAt">,
  ): Promise<ListedValidation> {
    const { updatedAt: at, ...definition } = after;
    const version = before.version + 1;
    await updateValidation(tx, definition, at);
    const details = { validation: after.name, mode: after.mode, version };
    await recordEvent(tx, this.#recordSource, { type: "validation.replaced", at, details });
    return withAttachments(tx, { ...after, version, createdAt: before.createdAt });
  }

  async getValidation(name: string): Promise<ListedValidation> {
    return this.#store.read(async (reader) => withAttachments(reader, await requireValidation(reader, name)));
  }

  async listValidations(namespace?: string): Promise<ListedValidation[]> {
    return this.#store.read(async (reader) => {
      const listed: ListedValidation[] = [];
      for (const one of await findValidations(reader, namespace)) listed.push(await withAttachments(reader, one));
      return listed;
    });
  }

  /** Removes the validation unless it is attached somewhere. Its results stay recorded with the plans. */
  async removeValidation(name: string): Promise<Validation> {
    return this.#store.transaction(async (tx) => {
      const validation = await requireValidation(tx, name);
      if (!(await deleteValidation(tx, validation.name))) {
        const attachments = await findAttachments(tx, "validation", validation.name);
        throw stillAttachedError("validation", validation.name, attachments);
      }
      const at = this.#recordSource.clock();
      const details = { validation: validation.name };
      await recordEvent(tx, this.#recordSource, { type: "validation.removed", at, details });
      return validation;
    });
  }

  /** From now on plans that use the resource are validated. For one project or plan only, if it has the resource. */
  async attach(input: AttachInput): Promise<Attachment> {
    if (input.project !== undefined && input.plan !== undefined) {
      throw new UsageError("A validation is attached for a project or for a plan, not for both.", {
        kept: "Nothing was changed.",
        next: [{ text: "attach it twice" }],
      });
    }
    return this.#store.transaction(async (tx) => {
      const resource = await requireResource(tx, input.resource);
      const validation = await requireValidation(tx, input.validation);
      const scope = await scopeOf(tx, input, resource.name);
      const attachment: Attachment = {
        id: this.#recordSource.ids() as AttachmentId,
        validation: validation.name,
        mode: validation.mode,
        resource: resource.name,
        scope,
        createdAt: this.#recordSource.clock(),
      };
      if (!(await insertAttachment(tx, attachment))) {
        throw new ConflictError(
          `The validation "${validation.name}" is attached to "${resource.name}" already.`,
          { expected: "not attached", actual: attachmentDetails(attachment), code: "already_exists" },
          { kept: "Nothing was changed.", next: [nextStep("validation.show", { validation: validation.name })] },
        );
      }
      const at = attachment.createdAt;
      const details = attachmentDetails(attachment);
      await recordEvent(tx, this.#recordSource, { type: "validation.attached", at, details });
      return attachment;
    });
  }

  /** By the attachment's id or a prefix of it that only one has. */
  async detach(idOrPrefix: string): Promise<Attachment> {
    const wanted = idOrPrefix.toUpperCase();
    if (!/^[0-9A-HJKMNP-TV-Z]{1,26}$/.test(wanted)) {
      throw new UsageError(`${shown(idOrPrefix)} is not the id of an attachment.`, {
        kept: "Nothing was changed.",
        next: [nextStep("validation.list")],
      });
    }
    return this.#store.transaction(async (tx) => {
      const [attachment, ...others] = await attachmentsByPrefix(tx, wanted, 6);
      if (attachment === undefined) {
        throw new NotFoundError("attachment", idOrPrefix, { next: [nextStep("validation.list")] });
      }
      if (others.length > 0) {
        const candidates = [attachment, ...others].map(({ id }) => id).slice(0, 5);
        throw new UsageError(
          `Several attachments begin with "${wanted}": ${candidates.join(", ")}${others.length > 4 ? ", …" : ""}.`,
          {
            kept: "Nothing was changed.",
            detail: { candidates },
            next: [{ text: "repeat the command with more characters of the id" }],
          },
        );
      }
      await removeAttachment(tx, this.#recordSource, attachment);
      return attachment;
    });
  }
}

async function withAttachments(reader: Reader, validation: Validation): Promise<ListedValidation> {
  return { ...validation, attachments: await findAttachments(reader, "validation", validation.name) };
}

async function requireValidation(reader: Reader, text: string): Promise<Validation> {
  const name = parseQualifiedName(text, "validation");
  const validation = await findValidation(reader, name);
  if (validation !== undefined) return validation;
  const known = await findValidations(reader);
  throw notFoundError(
    "validation",
    name,
    known.map((one) => one.name),
  );
}

/** A scope in which the resource is not used would be an attachment without effect: it is refused. */
async function scopeOf(reader: Reader, input: AttachInput, resource: QualifiedName): Promise<AttachmentScope> {
  if (input.project !== undefined) {
    const project = await requireProject(reader, input.project);
    if (!(await hasResource(reader, project.name, resource))) {
      throw resourceNotUsedError(`The project "${project.name}" does not have the resource "${resource}".`, "project", [
        nextStep("project.link-resource", { project: project.name, resource }),
      ]);
    }
    return { kind: "project", project: project.name };
  }
  if (input.plan === undefined) return { kind: "everywhere" };
  const plan = await requirePlan(reader, input.plan);
  for (const { project } of plan.projects) {
    if (await hasResource(reader, project, resource)) return { kind: "plan", planId: plan.id };
  }
  throw resourceNotUsedError(`No project of the plan ${plan.id} has the resource "${resource}".`, "plan", [
    nextStep("plan.status", { plan: plan.id }),
  ]);
}

async function requirePlan(reader: Reader, id: PlanId): Promise<Plan> {
  const plan = await findPlan(reader, id);
  if (plan === undefined) throw new NotFoundError("plan", id, { next: [nextStep("plan.list")] });
  if (!isTerminal(plan)) return plan;
  throw new ConflictError(
    `The plan ${plan.id} is ${stateText(plan)}; it is no longer validated.`,
    { expected: "a plan that is still active", actual: statusKey(plan) },
    { kept: "Nothing was changed.", next: [nextStep("plan.status", { plan: plan.id })] },
  );
}

async function hasResource(reader: Reader, project: QualifiedName, resource: QualifiedName): Promise<boolean> {
  const links = await findLinks(reader, { project });
  return links.some((link) => nameKey(link.resource) === nameKey(resource));
}

function resourceNotUsedError(message: string, path: string, next: readonly NextStep[]): ValidationError {
  return new ValidationError(message, [{ path, message }], { next });
}
