/** An action with its arguments. */
import type { OutputOf } from "../../app/table/operation-table.ts";
import { argumentText } from "../../domain/action/arguments.ts";
import { ACTOR_ROLES } from "../../domain/names/actor-roles.ts";
import { toned, type Cell, type View } from "../terminal/view.ts";

type ShownAction = OutputOf<"action.show">["action"];

export function actionView(action: ShownAction): View {
  const actors = ACTOR_ROLES.flatMap((role) =>
    action.actors[role] === null ? [] : [`${role}: ${action.actors[role]}`],
  );
  return [
    {
      kind: "fields",
      title: action.name,
      rows: [
        ["description", action.description],
        ...(action.longDescription === null ? [] : [["more", action.longDescription] as const]),
        ["done when", action.definitionOfDone.trimEnd()],
        ["actors", actors.join("\n")],
        ...(action.stepActors.length === 0 ? [] : [["for single steps", action.stepActors.join("\n")] as const]),
        ["state", actionStateCell(action.state)],
        ["profile", action.automationProfile ?? "(as configured)"],
        ["reusable", action.reusable ? "yes" : "no"],
        ["read-only", action.readOnly ? "yes" : "no"],
        ...action.invariants.map((text, index) => [index === 0 ? "invariants" : "", text] as const),
      ],
    },
    {
      kind: "table",
      title: "Arguments",
      columns: ["Name", "Type", "Required", "Default", "Description"],
      rows: action.arguments.map((argument) => [
        argument.name,
        argument.type,
        argument.required ? "yes" : "no",
        argument.default === null ? "-" : argumentText(argument.default),
        argument.description,
      ]),
      empty: "",
    },
  ];
}

export function actionStateCell(state: ShownAction["state"]): Cell {
  return toned(state, state === "available" ? "good" : "dim");
}
