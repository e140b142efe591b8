import { NotFoundError } from "../../domain/errors.ts";
import {
  findResourceType,
  RESOURCE_TYPE_NAMES,
  RESOURCE_TYPES,
  type ResourceType,
  type ResourceTypeArgument,
} from "../../domain/resource.ts";
import { nearest } from "../../domain/suggest.ts";
import type { Input } from "../command-spec.ts";
import { count } from "../format.ts";
import { info, type Outcome } from "../outcome.ts";

export async function resourceTypeList(): Promise<Outcome> {
  return {
    data: { resource_types: RESOURCE_TYPES.map(typeData), summary: { total: RESOURCE_TYPES.length } },
    view: [
      {
        kind: "table",
        title: "Resource types",
        columns: [{ keep: "Type" }, "Source", "Sandbox", "Description"],
        rows: RESOURCE_TYPES.map((type) => [type.name, "built-in", type.sandbox, type.description]),
        empty: "",
      },
    ],
    messages: info(`${count(RESOURCE_TYPES.length, "resource type")} listed.`),
  };
}

export async function resourceTypeShow(input: Input): Promise<Outcome> {
  const wanted = input.argument(0);
  const type = findResourceType(wanted);
  if (type === undefined) {
    const suggestion = nearest(wanted, RESOURCE_TYPE_NAMES);
    throw new NotFoundError("resource type", wanted, {
      ...(suggestion === undefined ? {} : { detail: { suggestion } }),
      next: [suggestion === undefined ? "agents resource type list" : `agents resource type show ${suggestion}`],
    });
  }
  return {
    data: typeData(type),
    view: [
      {
        kind: "fields",
        title: type.name,
        rows: [
          ["description", type.description],
          ["source", "built-in"],
          ["sandbox", type.sandbox],
        ],
      },
      {
        kind: "table",
        title: "Flags",
        columns: [{ keep: "Flag" }, "Type", "Required", "Description"],
        rows: type.arguments.map((argument) => [
          `--${argument.name}`,
          argument.type,
          argument.required ? "yes" : "no",
          describe(argument),
        ]),
        empty: "",
      },
    ],
    messages: [],
    next: [`agents resource add ${type.name} <name> --path <path>`],
  };
}

function describe({ description, choices }: ResourceTypeArgument): string {
  return choices === undefined ? description : `${description} (${choices.join(", ")})`;
}

function typeData(type: ResourceType): Record<string, unknown> {
  return {
    name: type.name,
    source: "built-in",
    description: type.description,
    user_addable: true,
    cli_arguments: type.arguments.map(({ name, required, type: kind, description, choices }) => ({
      argument: `--${name}`,
      required,
      type: kind,
      description,
      ...(choices === undefined ? {} : { choices }),
    })),
    sandbox: { strategy: type.sandbox },
  };
}
