/** `docs/errors.md`: every error code with its meaning, from the table of errors, and what to do about it. */
import { AgentsError, type ErrorCode } from "../../src/domain/errors/errors.ts";
import type { GeneratedPage } from "./generated-page.ts";

type Help = readonly [when: string, remedy: string];

const HELP = {
  usage: ["The words of the command are wrong", "Read `agents COMMAND --help`"],
  validation: ["A file or a value does not fit; the message names its line", "Correct the line"],
  not_found: ["A name or an id does not exist", "List what exists: `agents plan list`, `agents project list`, …"],
  conflict: ["Another process was first", "Look at the plan (`agents plan status`) and decide again"],
  already_exists: ["The name is taken", "Choose another name, or remove the old one"],
  invalid_transition: ["The plan is not in a state in which this can be done", "`agents plan status` says what can"],
  stale_lease: ["Another process has taken over this work", "Nothing was written; look at `agents plan status`"],
  merge_conflict: ["The plan and later work changed the same lines", "`agents plan conflicts` shows both sides"],
  constrained: [
    "A validation or a rule does not let the plan be applied",
    "`agents plan errors` says which; then `agents plan revert`",
  ],
  resource_busy: ["Another process is changing the repository", "Wait until it has ended, then repeat the command"],
  resource_failed: [
    "A repository or a directory cannot be read or written",
    "Correct what the message names, then repeat",
  ],
  plan: ["A request contradicts the plan's own scope", "Nothing was recorded; check the ids"],
  decision_phase: [
    "This type of decision does not belong to the plan's phase",
    "Nothing was recorded; use an allowed type",
  ],
  stuck: ["The worker of a step cannot finish it as things are", "Give guidance: `agents plan prompt`"],
  agent_failed: ["An outside agent failed", "Read what it said, then `agents plan execute` again"],
  tool_failed: ["A tool or a command failed", "`agents plan errors` shows what it printed"],
  graph_failed: ["A node of a graph failed", "`agents plan errors` names the node"],
  graph_limit: ["A graph does not come to an end within its limits", "Correct the graph, or raise its limit"],
  hook_failed: ["A git hook of the repository refused the change", "Correct what the hook names, or use `--no-verify`"],
  confinement_missing: [
    "Commands cannot be confined on this machine",
    "Install bubblewrap; see [confinement.md](confinement.md)",
  ],
  policy: ["A rule of the plan or of its profile forbids this", "Use another profile, or do it yourself"],
  guard_refused: [
    "A guard of the plan's profile refused a call",
    "`agents plan guard` shows them; looser ones need another profile, and so another plan",
  ],
  approval_needed: [
    "The profile wants a person's approval first",
    "`agents plan guard --allow-writes` or `--allow-apply`, as the message says",
  ],
  contained: ["A path leads out of the sandbox or the resource", "Use a path inside it"],
  git_failed: ["git itself failed; the message has its words", "Correct what git names, then repeat"],
  interrupted: ["You stopped it", "The recorded steps are kept; run the command again"],
  timed_out: ["A search, or waiting for a plan, took longer than allowed", "Repeat it, or ask for less"],
  budget_exceeded: [
    "A call could cost more than the budget has left",
    "Raise it: `agents plan budget`; nothing was sent",
  ],
  price_unknown: [
    "There is a budget, and a model's price is not known",
    "Set `provider.NAME.prices`, or `agents models refresh`",
  ],
  awaiting_input: ["The plan waits for your answer", "Answer by the command that the message names"],
  breaker_open: ["A part that kept failing is switched off for a while", "Wait, or `agents context breakers reset`"],
  breaker_full: ["There are more names than the circuit breaker has room for", "Report it"],
  configuration: [
    "A setting, a variable or a file of yours is wrong",
    "`agents config get KEY --verbose`; see [settings.md](settings.md)",
  ],
  model_rate_limit: ["The provider takes no more calls for now", "Wait, then run the command again"],
  model_overloaded: ["The provider is overloaded", "Wait, or use another model"],
  model_network: ["The provider cannot be reached", "Check the network and `provider.NAME.base-url`"],
  model_server: ["The provider failed", "Run the command again later"],
  model_authentication: ["The provider does not accept the key", "Set the key again"],
  model_unavailable: [
    "The provider does not have the model, or not for this key",
    "`agents actor list` names the models",
  ],
  model_context_too_long: ["The text is too long for the model", "Use a model with a larger window, or a smaller step"],
  model_refused: ["The model refused to answer", "Put it differently, or use another model"],
  model_rejected: ["The provider did not accept the request", "Check whether the model can use tools"],
  model_malformed: ["The model's answer cannot be read", "Run it again; check `provider.NAME.type`"],
  model_timeout: ["The model gave no sign of life in time", "Raise `provider.NAME.timeout`"],
  model_cancelled: ["The call was stopped", "Run the command again"],
  audit_broken: [
    "The audit log was changed from outside",
    "`agents audit verify` names the first entry; restore a backup",
  ],
  unit_of_work: ["A program used the library's store against its rules", "Nothing was written; correct the program"],
  store_busy: ["Other processes kept the database busy for too long", "Repeat the command"],
  store_full: ["The disk is full", "Make room, then repeat; nothing acknowledged is lost"],
  store_read_only: ["The database cannot be written", "Check the rights of the data directory"],
  store_corrupt: ["The database is damaged", "Restore a backup of the data directory"],
  store_too_new: ["A newer version has written the database", "Use that version"],
  store_failed: ["The database failed in another way", "Read the message; repeat with `-v`"],
  not_authenticated: ["A request to the server has no valid token", "Send `Authorization: Bearer <token>`"],
  not_allowed: ["The token's role, or the server's rules, do not allow the request", "Ask an owner of the server"],
  wrong_method: ["The route of the server takes another method", "The message names the methods"],
  request_too_large: ["A request to the server is too long, or nested too deep", "Send less at once"],
  wrong_media_type: ["The body of a request is not JSON", "Send `Content-Type: application/json`"],
  too_many_attempts: ["Too many wrong tokens came from this address", "Wait as long as `Retry-After` says"],
  server_busy: ["The server is stopping, or has as much to do as it takes", "Try again"],
  internal: ["Something unexpected, a defect of ours", "Repeat with `-v` and report what it prints"],
} satisfies Readonly<Record<ErrorCode, Help>>;

export function errorsPage(): GeneratedPage {
  const codes = Object.keys(HELP).filter(isCode);
  const rows = codes.map((code) => {
    const { exit, http } = new AgentsError(code, "").meaning;
    const [when, remedy] = HELP[code];
    return `| \`${code.toUpperCase()}\` | ${exit} | ${http} | ${when} | ${remedy} |`;
  });
  const text = [
    "# Errors\n",
    "Made by `npm run commands` from the table of error codes; do not edit.\n",
    "An error says what happened (`error:`), what was kept (`kept:`) and the command that continues (`next:`). With",
    "`--format json` they are the fields `error.code`, `error.message`, `error.kept` and `error.suggestions`. A message that",
    "fits the case better than this page names the remedy itself; `-v` adds the cause.\n",
    "## Exit codes\n",
    "| exit code | meaning |",
    "|---|---|",
    "| 0 | done; also with warnings |",
    "| 1 | it failed |",
    "| 2 | the words or a file are wrong; nothing was started |",
    "| 3 | not found |",
    "| 4 | a conflict: another process or a person was first; nothing was changed |",
    "| 5 | the plan waits for your answer |",
    "| 130 | ended by a second Ctrl-C |\n",
    "## Codes\n",
    "HTTP is the status that a server which passes the error on should use.\n",
    "| code | exit | HTTP | when | what to do |",
    "|---|---|---|---|---|",
    ...rows,
    "",
  ].join("\n");
  return { file: "docs/errors.md", text };
}

function isCode(code: string): code is ErrorCode {
  return Object.hasOwn(HELP, code);
}
