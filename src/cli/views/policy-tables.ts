/** A project's context policy: each setting, its value, and the view that sets it. */
import type { OutputOf } from "../../app/table/operation-table.ts";
import { bytes } from "../terminal/format.ts";
import { toned, type Cell, type Element } from "../terminal/view.ts";

type Views = OutputOf<"project.context.show">["views"];
type Settings = NonNullable<Views["default"]>;
type Setting = keyof Settings;

const NAMES = {
  include: "include",
  exclude: "exclude",
  maxFileSize: "max file size",
  maxTotalSize: "max total size",
  maxFiles: "max files",
  strategies: "strategies",
  budget: "budget",
} as const satisfies Record<Setting, string>;

const SETTINGS = Object.keys(NAMES) as Setting[];

export function settingsTable(view: string, settings: Settings): Element {
  return {
    kind: "table",
    title: `View ${view}`,
    columns: [{ keep: "Setting" }, "Value", { keep: "From" }],
    rows: SETTINGS.map((name) => [NAMES[name], settingText(settings, name), origin(settings[name].from)]),
    empty: "",
  };
}

/** The first view whole, of the others only what they set themselves. */
export function allViewsTable(views: Views): Element {
  const rows = Object.entries(views).flatMap(([view, settings]) => {
    const own = SETTINGS.filter((name) => view === "default" || settings[name].from === view);
    return own.map((name): Cell[] => [view, NAMES[name], settingText(settings, name), origin(settings[name].from)]);
  });
  return {
    kind: "table",
    title: "Context policy",
    columns: [{ keep: "View" }, { keep: "Setting" }, "Value", { keep: "From" }],
    rows,
    empty: "",
  };
}

function origin(from: string): Cell {
  return from === "built in" ? toned(from, "dim") : from;
}

const UNSET = {
  include: "everything",
  exclude: "nothing",
  maxFileSize: "no limit",
  maxTotalSize: "no limit",
  maxFiles: "no limit",
  strategies: "all that are enabled",
  budget: "what the model's window leaves",
} as const satisfies Record<Setting, string>;

function settingText(settings: Settings, name: Setting): string {
  const { value } = settings[name];
  if (value === null) return UNSET[name];
  if (typeof value !== "number") return value.join(", ") || UNSET[name];
  if (name === "budget") return `${value} tokens`;
  return name === "maxFiles" ? String(value) : bytes(value);
}
