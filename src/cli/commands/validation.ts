import type { Attachment, AttachmentScope } from "../../domain/attachment.ts";
import { UsageError } from "../../domain/errors.ts";
import type { Check, Validation } from "../../domain/validation.ts";
import type { ListedValidation } from "../../plans/validation-service.ts";
import type { CommandContext } from "../command-context.ts";
import type { Input } from "../command-spec.ts";
import { confirmed, declined } from "../confirm.ts";
import { readDefinition } from "../definition-file.ts";
import { count, instant, orDash } from "../format.ts";
import { info, type Outcome } from "../outcome.ts";
import type { Element, View } from "../view.ts";

export async function validationAdd(context: CommandContext, input: Input): Promise<Outcome> {
  const source = readDefinition(input, { question: "Which validation?", command: "agents validation add" });
  const { checkValidation, parseValidationFile } = await import("../../plans/validation-file.ts");
  const { accepted } = await import("../foreign-file.ts");
  const definition = parseValidationFile(source.text, source.file);
  const { check } = checkValidation(definition);
  const wants = { commands: check.kind === "command" ? [check.command] : [], endpoints: [], variables: [], unsafe: [] };
  if (!(await accepted(context.paths.dataDir, input, { ...source, wants }))) return declined("added");
  const validation = await (await context.validations()).addValidation(definition);
  return {
    data: { validation: validationData(validation) },
    view: validationView(validation),
    messages: info(`Validation ${validation.name} added.`),
    next: [`agents validation attach <resource> ${validation.name}`],
  };
}

export async function validationList(context: CommandContext, input: Input): Promise<Outcome> {
  const namespace = input.text("namespace");
  const validations = await (await context.validations()).listValidations(namespace);
  return {
    data: {
      validations: validations.map(validationData),
      filters: { namespace: namespace ?? null },
      summary: {
        total: validations.length,
        attachments: validations.reduce((sum, { attachments }) => sum + attachments.length, 0),
      },
    },
    view: [
      {
        kind: "table",
        title: "Validations",
        columns: [{ keep: "Name" }, "Mode", "Attached", "Checks"],
        rows: validations.map((validation) => [
          validation.name,
          validation.mode,
          String(validation.attachments.length),
          checkText(validation.check),
        ]),
        empty: "No validations yet.",
      },
      attachmentTable(validations.flatMap(({ attachments }) => attachments)),
    ],
    messages: info(`${count(validations.length, "validation")} listed.`),
    ...(validations.length === 0 ? { next: ["agents validation add --config <file>"] } : {}),
  };
}

export async function validationShow(context: CommandContext, input: Input): Promise<Outcome> {
  const validation = await (await context.validations()).getValidation(input.argument(0));
  return {
    data: { validation: validationData(validation) },
    view: validationView(validation),
    messages: [],
    ...(validation.attachments.length === 0
      ? { next: [`agents validation attach <resource> ${validation.name}`] }
      : {}),
  };
}

export async function validationRemove(context: CommandContext, input: Input): Promise<Outcome> {
  const validations = await context.validations();
  const { name } = await validations.getValidation(input.argument(0));
  if (!(await confirmed(`Remove the validation ${name}?`, input.flag("yes")))) return declined("removed");
  await validations.removeValidation(name);
  return { data: { removed: true, validation: name }, view: [], messages: info(`Validation ${name} removed.`) };
}

export async function validationAttach(context: CommandContext, input: Input): Promise<Outcome> {
  const [project, plan] = [input.text("project"), input.text("plan")];
  if (project !== undefined && plan !== undefined) {
    throw new UsageError("Give --project or --plan, not both; with neither it is attached everywhere.", {
      kept: "Nothing was changed.",
      next: ["agents validation attach --help"],
    });
  }
  const attachment = await (
    await context.validations()
  ).attach({
    resource: input.argument(0),
    validation: input.argument(1),
    project,
    plan: plan === undefined ? undefined : (await (await context.plans()).getPlan(plan)).id,
  });
  const { validation, mode, resource, scope } = attachment;
  return {
    data: { attached: true, attachment: attachmentData(attachment) },
    view: [],
    messages: info(
      `Validation ${validation} (${mode}) is attached to ${resource}, ${scopeText(scope)}: ${attachment.id}.`,
    ),
    next: [`agents validation detach ${attachment.id}`],
  };
}

export async function validationDetach(context: CommandContext, input: Input): Promise<Outcome> {
  const attachment = await (await context.validations()).detach(input.argument(0));
  return {
    data: { detached: true, attachment: attachmentData(attachment) },
    view: [],
    messages: info(
      `Validation ${attachment.validation} is no longer attached to ${attachment.resource}, ${scopeText(attachment.scope)}.`,
    ),
  };
}

function validationData(validation: ListedValidation): Record<string, unknown> {
  return {
    name: validation.name,
    description: validation.description,
    mode: validation.mode,
    ...checkData(validation.check),
    attachments: validation.attachments.map(attachmentData),
    version: validation.version,
    created_at: instant(validation.createdAt),
    updated_at: instant(validation.updatedAt),
  };
}

function checkData(check: Check): Record<string, unknown> {
  return check.kind === "command"
    ? { command: check.command, cwd: check.cwd ?? null, timeout_ms: check.timeoutMs }
    : { tool: check.tool, params: check.params };
}

function attachmentData({ id, validation, mode, resource, scope, createdAt }: Attachment): Record<string, unknown> {
  return {
    attachment_id: id,
    validation,
    mode,
    resource,
    scope: scope.kind,
    project: scope.kind === "project" ? scope.project : null,
    plan_id: scope.kind === "plan" ? scope.planId : null,
    created_at: instant(createdAt),
  };
}

function checkText(check: Check): string {
  return check.kind === "command" ? check.command : `${check.tool} ${JSON.stringify(check.params)}`;
}

function scopeText(scope: AttachmentScope): string {
  switch (scope.kind) {
    case "everywhere":
      return "everywhere";
    case "project":
      return `in plans of ${scope.project}`;
    case "plan":
      return `in plan ${scope.planId}`;
  }
}

function validationView(validation: Validation & Pick<ListedValidation, "attachments">): View {
  const { check } = validation;
  return [
    {
      kind: "fields",
      title: validation.name,
      rows: [
        ["description", validation.description],
        ["mode", validation.mode],
        [check.kind, checkText(check)],
        ...(check.kind === "command"
          ? ([
              ["directory", orDash(check.cwd)],
              ["time limit", `${check.timeoutMs} ms`],
            ] as const)
          : []),
        ["created", instant(validation.createdAt)],
      ],
    },
    attachmentTable(validation.attachments),
  ];
}

function attachmentTable(attachments: readonly Attachment[]): Element {
  return {
    kind: "table",
    title: "Attachments",
    columns: [{ keep: "Attachment" }, "Validation", "Resource", "Where"],
    rows: attachments.map(({ id, validation, resource, scope }) => [id, validation, resource, scopeText(scope)]),
    empty: "",
  };
}
