/** Models and the providers behind them. */
import type { TableEntry } from "../base/operation.ts";

export const MODELS_TABLE = {
  "models.list": {
    summary: "List models with their windows, prices and abilities, and whether there is a key for them",
    role: "reader",
    writes: false,
    parameters: [
      { name: "provider", about: "only of this provider", value: "name" },
      { name: "all", about: "also of providers without a key", kind: "flag" },
      { name: "ask", about: "ask OpenAI-compatible endpoints and Ollama for their own models", kind: "flag" },
    ],
    example: { provider: "anthropic" },
    load: () => import("../operations/models-list.ts"),
  },
  "models.refresh": {
    summary: "Fetch the public list of models and keep it beside the one in the package",
    role: "admin",
    writes: true,
    example: {},
    load: () => import("../operations/models-refresh.ts"),
  },
  gateway: {
    summary: "Run a program whose model calls are metered and stop at a budget; without one, serve until Ctrl-C",
    role: "admin",
    writes: true,
    local: true,
    parameters: [
      { name: "command", about: "the program and its words, after --", kind: "command", positional: true },
      { name: "budget", about: "the most that this run may cost; none for no limit", value: "dollars" },
      { name: "maxOutputTokens", about: "the longest answer", value: "count", kind: "integer" },
      { name: "model", about: "ask this model, whichever the program names", value: "provider/model" },
      { name: "network", about: "allow tools that run at the provider, such as web searches", kind: "flag" },
      { name: "directory", about: "where the program starts", kind: "here" },
    ],
    example: { budget: "5", command: ["claude"] },
    load: () => import("../operations/gateway.ts"),
  },
  "login.copilot": {
    summary: "Log in to GitHub Copilot by a code",
    role: "admin",
    writes: true,
    local: true,
    example: {},
    load: () => import("../operations/login-copilot.ts"),
  },
  "login.list": {
    summary: "List the providers that have a login, and whether you are logged in",
    role: "reader",
    writes: false,
    example: {},
    load: () => import("../operations/login-list.ts"),
  },
  logout: {
    summary: "Remove the login of a provider",
    role: "admin",
    writes: true,
    parameters: [{ name: "provider", about: "the provider: copilot", positional: true, required: true }],
    example: { provider: "copilot" },
    load: () => import("../operations/logout.ts"),
  },
} as const satisfies Readonly<Record<string, TableEntry>>;
