/** The files that define things, of every kind. */
import type { TableEntry } from "../base/operation.ts";

export const DEFINITION_TABLE = {
  schema: {
    summary: "Print the JSON Schema of a kind of file, for editors; without a kind, list the kinds",
    role: "reader",
    writes: false,
    parameters: [{ name: "kind", about: "actor, action, tool, config, …; none lists them", positional: true }],
    example: { kind: "actor" },
    load: () => import("../operations/schema.ts"),
  },
  edit: {
    summary: "Change a stored definition in your editor; without a name, list the names",
    role: "admin",
    writes: true,
    parameters: [
      {
        name: "kind",
        about: "actor, action, automation-profile, validation, tool, skill or config",
        positional: true,
        required: true,
      },
      { name: "name", about: "its name; none for config", positional: true },
    ],
    example: { kind: "actor", name: "local/greeter" },
    load: () => import("../operations/edit.ts"),
  },
} as const satisfies Readonly<Record<string, TableEntry>>;
