/** A validation and its attachments. */
import type { OutputOf } from "../../app/table/operation-table.ts";
import { orDash } from "../terminal/format.ts";
import type { Element, View } from "../terminal/view.ts";

type ShownValidation = OutputOf<"validation.show">["validation"];
type Attachment = ShownValidation["attachments"][number];

export function validationView(validation: ShownValidation): View {
  return [
    {
      kind: "fields",
      title: validation.name,
      rows: [
        ["description", validation.description],
        ["mode", validation.mode],
        ["command" in validation ? "command" : "tool", checkText(validation)],
        ...("command" in validation
          ? ([
              ["directory", orDash(validation.cwd)],
              ["time limit", `${validation.timeoutMs} ms`],
            ] as const)
          : []),
        ["created", validation.createdAt],
      ],
    },
    attachmentTable(validation.attachments),
  ];
}

export function checkText(validation: ShownValidation): string {
  return "command" in validation ? validation.command : `${validation.tool} ${JSON.stringify(validation.params)}`;
}

export function attachmentTable(attachments: readonly Attachment[]): Element {
  return {
    kind: "table",
    title: "Attachments",
    columns: [{ keep: "Attachment" }, "Validation", "Resource", "Where"],
    rows: attachments.map((one) => [one.attachmentId, one.validation, one.resource, scopeText(one)]),
    empty: "",
  };
}

export function scopeText({ scope, project, planId }: Attachment): string {
  switch (scope) {
    case "everywhere":
      return "everywhere";
    case "project":
      return `in plans of ${project}`;
    case "plan":
      return `in plan ${planId}`;
  }
}
