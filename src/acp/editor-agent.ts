/**
 * The agent that editors talk to: each method of the protocol, and the sessions of this connection. It knows nothing of
 * plans itself; a session carries out the same operations as the command line.
 */
import { stat } from "node:fs/promises";
import { isAbsolute } from "node:path";
import type * as acp from "@agentclientprotocol/sdk";
import { maskedError, maskedErrorChain } from "../app/base/masked-error.ts";
import { VERSION } from "../app/base/package-version.ts";
import type { CleverAgents } from "../app/open.ts";
import type { OutputOf } from "../app/table/operation-table.ts";
import { AgentsError, NotFoundError, UsageError } from "../domain/errors/errors.ts";
import { monotonicIds } from "../domain/names/ids.ts";
import type { Environment } from "../domain/values/environment.ts";
import { StoredConversation, type ConversationPlace } from "./editor-conversation.ts";
import { abilitiesOf, EditorClient, type EditorAbilities, type Protocol } from "./editor-client.ts";
import { EditorSession } from "./editor-session.ts";
import { tellHistory } from "./session-history.ts";
import { configOptionsOf, modesOf, withOption, type ChosenOptions } from "./session-options.ts";
import { errorText, type Spell } from "./editor-words.ts";

export interface AgentParts {
  readonly agents: CleverAgents;
  readonly environment: Environment;
  readonly protocol: Protocol;
  /** Chosen on the command line, for every session. */
  readonly options: ChosenOptions;
  readonly spell: Spell;
  readonly log: (text: string) => void;
}

/** An editor shows them in a menu. */
const LISTED = 200;

interface Opened {
  readonly modes: acp.SessionModeState;
  readonly configOptions: acp.SessionConfigOption[];
}

export class EditorAgent {
  readonly #parts: AgentParts;
  readonly #sessions = new Map<string, EditorSession>();
  readonly #ids = monotonicIds();
  #windows: Promise<ReadonlyMap<string, number>> | undefined;
  #windowsNow: ReadonlyMap<string, number> = new Map();
  #abilities: EditorAbilities = abilitiesOf(undefined);

  constructor(parts: AgentParts) {
    this.#parts = parts;
  }

  initialize({ clientCapabilities }: acp.InitializeRequest): acp.InitializeResponse {
    this.#abilities = abilitiesOf(clientCapabilities);
    return {
      protocolVersion: 1,
      agentInfo: { name: "cleveragents", title: "CleverAgents", version: VERSION },
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: { image: true, embeddedContext: true },
        mcpCapabilities: { http: true },
        sessionCapabilities: { list: {}, resume: {}, close: {} },
      },
      authMethods: [],
    };
  }

  async newSession(request: acp.NewSessionRequest, context: acp.AgentContext): Promise<acp.NewSessionResponse> {
    await requireDirectory(request.cwd);
    const place = { id: this.#ids(), directory: request.cwd, begun: false };
    const session = this.#open(place, await checked(this.#parts.agents, this.#parts.options), context);
    const opened = await this.#opened(session);
    this.#afterwards(() => {
      session.offerCommands();
      return this.#tellUnused(session, request);
    });
    return { sessionId: session.id, ...opened };
  }

  /** Told again from the beginning, from the store. */
  async loadSession(request: acp.LoadSessionRequest, context: acp.AgentContext): Promise<acp.LoadSessionResponse> {
    const { session, found } = await this.#found(request, context);
    tellHistory(found, session.client);
    return this.#opened(session);
  }

  async resumeSession(
    request: acp.ResumeSessionRequest,
    context: acp.AgentContext,
  ): Promise<acp.ResumeSessionResponse> {
    return this.#opened((await this.#found(request, context)).session);
  }

  async listSessions({ cwd }: acp.ListSessionsRequest): Promise<acp.ListSessionsResponse> {
    if (cwd != null) await requireDirectory(cwd);
    const here = cwd == null ? {} : { here: true };
    const { sessions } = await this.#parts.agents.run("session.list", {
      directory: cwd ?? "/",
      limit: LISTED,
      ...here,
    });
    return {
      sessions: sessions.map(({ sessionId, directory, title, toldAt }) => ({
        sessionId,
        cwd: directory,
        title,
        updatedAt: toldAt,
      })),
    };
  }

  async prompt({ sessionId, prompt }: acp.PromptRequest): Promise<acp.PromptResponse> {
    const session = this.#session(sessionId);
    this.#windowsNow = await this.#knownWindows();
    try {
      return { stopReason: await session.prompt(prompt) };
    } catch (error) {
      const { environment, spell } = this.#parts;
      // The conversation keeps the whole story; the error is for a program that drives the editor.
      if (error instanceof AgentsError) session.client.say(errorText(maskedError(error, environment), spell));
      throw error;
    }
  }

  /** An unknown session has nothing to cancel. */
  async cancel({ sessionId }: acp.CancelNotification): Promise<void> {
    await this.#sessions.get(sessionId)?.cancel();
  }

  async setMode({ sessionId, modeId }: acp.SetSessionModeRequest): Promise<acp.SetSessionModeResponse> {
    await this.#session(sessionId).choose("profile", modeId);
    return {};
  }

  async setConfigOption(request: acp.SetSessionConfigOptionRequest): Promise<acp.SetSessionConfigOptionResponse> {
    const session = this.#session(request.sessionId);
    await session.choose(request.configId, String(request.value));
    return { configOptions: await configOptionsOf(this.#parts.agents, session.options) };
  }

  /** Its recorded work stays, and the session can be loaded again. */
  async closeSession({ sessionId }: acp.CloseSessionRequest): Promise<acp.CloseSessionResponse> {
    await this.#session(sessionId).cancel();
    this.#sessions.delete(sessionId);
    return {};
  }

  /** The editor went away: the work of every session stops where it can go on later. */
  async close(): Promise<void> {
    await Promise.all([...this.#sessions.values()].map((session) => session.cancel()));
  }

  #open(place: ConversationPlace, options: ChosenOptions, context: acp.AgentContext): EditorSession {
    const { agents, protocol, spell, log } = this.#parts;
    const { id: sessionId } = place;
    const client = new EditorClient({ context, protocol, sessionId, abilities: this.#abilities, log });
    const session = new EditorSession({
      agents,
      client,
      conversation: new StoredConversation(agents, place),
      spell,
      windowOf: (model) => this.#windowsNow.get(model) ?? 0,
      options,
    });
    this.#sessions.set(sessionId, session);
    return session;
  }

  /** A session of the store, with the settings of its last plan; one that is open here stays as it is. */
  async #found(
    request: acp.LoadSessionRequest | acp.ResumeSessionRequest,
    context: acp.AgentContext,
  ): Promise<{ readonly session: EditorSession; readonly found: OutputOf<"session.show"> }> {
    const { cwd, sessionId } = request;
    const { agents, options } = this.#parts;
    await requireDirectory(cwd);
    const found = await agents.run("session.show", { session: sessionId, directory: cwd, decisions: true });
    const last = found.turns.at(-1);
    const kept = { profile: last?.automationProfile, actor: last?.actors.execution ?? undefined };
    const place = { id: found.sessionId, directory: found.directory, begun: true };
    const session = this.#sessions.get(found.sessionId) ?? this.#open(place, { ...options, ...kept }, context);
    for (const { planId, cost } of found.turns) session.knowCost(planId, Math.round(cost.spentUsd * 1_000_000));
    this.#afterwards(() => {
      session.offerCommands();
      return this.#tellUnused(session, { mcpServers: [], ...request });
    });
    return { session, found };
  }

  async #opened(session: EditorSession): Promise<Opened> {
    const { agents } = this.#parts;
    const { options } = session;
    return { modes: await modesOf(agents, options), configOptions: await configOptionsOf(agents, options) };
  }

  #session(id: string): EditorSession {
    const found = this.#sessions.get(id);
    if (found !== undefined) return found;
    throw new NotFoundError("session", id, { next: [{ text: "begin a new session, or load it first" }] });
  }

  /** Told after the answer by which the editor learns of the session. */
  #afterwards(tell: () => Promise<void>): void {
    const { log, environment } = this.#parts;
    setTimeout(() => void tell().catch((error: unknown) => log(maskedErrorChain(error, environment))), 0);
  }

  async #tellUnused(session: EditorSession, request: acp.NewSessionRequest): Promise<void> {
    const { mcpServers, additionalDirectories = [] } = request;
    const unused = await session.useServers(mcpServers).unused();
    if (unused !== undefined) session.client.notice("warning", unused);
    if (additionalDirectories.length > 0)
      session.client.notice(
        "warning",
        `Only the session's own directory is used, not ${additionalDirectories.join(", ")}.`,
      );
  }

  /** How many tokens each model can take, as far as that is known without asking its endpoint. */
  #knownWindows(): Promise<ReadonlyMap<string, number>> {
    this.#windows ??= this.#parts.agents
      .run("models.list", {})
      .then(({ models }) => new Map(models.map(({ model, contextWindow }) => [model, contextWindow ?? 0])));
    return this.#windows;
  }
}

/** Each option of the command line, or an error that names the wrong one. */
async function checked(agents: CleverAgents, { profile, actor, budget }: ChosenOptions): Promise<ChosenOptions> {
  let options: ChosenOptions = { profile: undefined, actor: undefined, budget: undefined };
  for (const [id, value] of Object.entries({ profile, actor, budget }))
    if (value !== undefined) options = await withOption(agents, options, id, value);
  return options;
}

async function requireDirectory(cwd: string): Promise<void> {
  const problem = !isAbsolute(cwd)
    ? "is not an absolute path"
    : await stat(cwd).then(
        (found) => (found.isDirectory() ? undefined : "is not a directory"),
        () => "does not exist",
      );
  if (problem === undefined) return;
  throw new UsageError(`The session's directory ${cwd} ${problem}.`, {
    kept: "Nothing was written.",
    next: [{ text: "open a directory that is, or is in, a git repository" }],
  });
}
