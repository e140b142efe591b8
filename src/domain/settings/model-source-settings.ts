import { baseUrlProblem } from "./provider-settings.ts";
import type { Setting } from "./settings.ts";

/** Where lists of models and logins come from; nothing is fetched before the user asks for it. */
export const MODEL_SETTINGS: readonly Setting[] = [
  {
    key: "models.source",
    env: "CLEVERAGENTS_MODELS_SOURCE",
    default: "https://models.dev/api.json",
    description: "The list of models that `agents models refresh` fetches, in the format of models.dev",
    perProject: false,
    problem: baseUrlProblem,
  },
  {
    key: "login.github-url",
    env: "CLEVERAGENTS_LOGIN_GITHUB_URL",
    default: "https://github.com",
    description: "Where you log in to GitHub; another one for GitHub Enterprise",
    perProject: false,
    problem: baseUrlProblem,
  },
  {
    key: "login.github-api-url",
    env: "CLEVERAGENTS_LOGIN_GITHUB_API_URL",
    default: "https://api.github.com",
    description: "Where a login with GitHub is exchanged for a token of Copilot",
    perProject: false,
    problem: baseUrlProblem,
  },
  {
    key: "login.github-client-id",
    env: "CLEVERAGENTS_LOGIN_GITHUB_CLIENT_ID",
    default: undefined,
    description: "The client id of the OAuth app under which you log in to GitHub",
    perProject: false,
    problem: (value) => (/^[\w.-]{1,100}$/.test(value) ? undefined : "must be a client id"),
  },
];
