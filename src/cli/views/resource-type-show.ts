import type { OutputOf } from "../../app/table/operation-table.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import type { Show } from "../terminal/show.ts";

type Output = OutputOf<"resource.type.show">;

export const show: Show<"resource.type.show"> = ({ name, source, description, sandbox, cliArguments }) => ({
  view: [
    {
      kind: "fields",
      title: name,
      rows: [
        ["description", description],
        ["source", source],
        ["sandbox", sandbox.strategy],
      ],
    },
    {
      kind: "table",
      title: "Flags",
      columns: [{ keep: "Flag" }, "Type", "Required", "Description"],
      rows: cliArguments.map((one) => [one.argument, one.type, one.required ? "yes" : "no", describe(one)]),
      empty: "",
    },
  ],
  messages: [],
  next: [nextStep("resource.add", { type: name, resource: "<name>", path: "<path>" })],
});

function describe({ description, choices }: Output["cliArguments"][number]): string {
  return choices === undefined ? description : `${description} (${choices.join(", ")})`;
}
