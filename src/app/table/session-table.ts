import type { TableEntry } from "../base/operation.ts";

const SESSION = {
  name: "session",
  about: "its number, its id or the first characters of it, or last",
  positional: true,
  required: true,
} as const;

export const SESSION_TABLE = {
  "session.list": {
    summary: "List sessions: what was asked, where it stands, what it cost",
    role: "reader",
    writes: false,
    parameters: [
      { name: "directory", about: "sessions of the repository here come first", kind: "here" },
      { name: "here", about: "only sessions of the repository here", kind: "flag" },
      { name: "project", about: "only of this project", value: "name", short: "p" },
      { name: "limit", about: "show at most this many", value: "count", kind: "integer", short: "n" },
    ],
    example: { here: true },
    load: () => import("../operations/session-list.ts"),
  },
  "session.show": {
    summary: "Show a session turn by turn: requests, answers, changes, costs",
    role: "reader",
    writes: false,
    parameters: [
      SESSION,
      { name: "directory", about: "where last is looked for", kind: "here" },
      { name: "decisions", about: "also every decision and its tool calls", kind: "flag" },
    ],
    example: { session: "last" },
    load: () => import("../operations/session-show.ts"),
  },
  "session.resume": {
    summary: "Carry on what was stopped in a session",
    role: "operator",
    writes: true,
    asks: true,
    stops: true,
    parameters: [SESSION, { name: "directory", about: "where last is looked for", kind: "here" }],
    example: { session: "last" },
    load: () => import("../operations/session-resume.ts"),
  },
  "session.fork": {
    summary: "Begin a new session that shares the turns of another one",
    role: "operator",
    writes: true,
    parameters: [
      SESSION,
      { name: "directory", about: "where last is looked for", kind: "here" },
      { name: "at", about: "share the turns up to this one, by its number or its plan", value: "turn" },
    ],
    example: { session: "3", at: "2" },
    load: () => import("../operations/session-fork.ts"),
  },
  "session.export": {
    summary: "Write a session as one file: what was said, decided, changed, paid",
    role: "reader",
    writes: false,
    parameters: [
      SESSION,
      { name: "directory", about: "where last is looked for", kind: "here" },
      { name: "as", about: "markdown or json", value: "form", choices: ["markdown", "json"] },
    ],
    example: { session: "last", as: "json" },
    load: () => import("../operations/session-export.ts"),
  },
  tell: {
    summary: "Say what comes next in a session, and carry it on",
    role: "operator",
    writes: true,
    asks: true,
    stops: true,
    parameters: [
      SESSION,
      {
        name: "text",
        about: "an answer, guidance, or the next request",
        positional: true,
        required: true,
        kind: "words",
      },
      { name: "directory", about: "where last is looked for", kind: "here" },
      { name: "applyAnyway", about: "with --yes: apply although the project's own check failed", kind: "flag" },
    ],
    example: { session: "last", text: "now add a test for it" },
    load: () => import("../operations/tell.ts"),
  },
} as const satisfies Readonly<Record<string, TableEntry>>;
