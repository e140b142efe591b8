import { nextStep } from "../../domain/errors/next-step.ts";
import type { Show } from "../terminal/show.ts";
import { listed } from "./parts.ts";
import { attachmentTable, checkText } from "./validation-view.ts";

export const show: Show<"validation.list"> = ({ validations, summary }) => ({
  view: [
    {
      kind: "table",
      title: "Validations",
      columns: [{ keep: "Name" }, "Mode", "Attached", "Checks"],
      rows: validations.map((validation) => [
        validation.name,
        validation.mode,
        String(validation.attachments.length),
        checkText(validation),
      ]),
      empty: "No validations yet.",
    },
    attachmentTable(validations.flatMap(({ attachments }) => attachments)),
  ],
  messages: listed(summary.total, "validation"),
  next: summary.total === 0 ? [nextStep("validation.add", { definition: { file: "<file>" } })] : [],
});
