/**
 * Everything an operation works with: the store, the services, the settings. Each part is opened and imported on first
 * use, so that an operation that needs no database does not pay for one, and closed at the end. Opening the store
 * recovers what a crash left, through every door alike.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { existsSync, readFileSync, statSync } from "node:fs";
import { DataDirectory } from "../../platform/data-directory.ts";
import { findSetting, resolveSetting, type ResolvedSetting } from "../../domain/settings/settings.ts";
import { STORE_SETTING } from "../../platform/settings/store-setting.ts";
import { loginName } from "../../platform/user.ts";
import type { AcpActorDefinition } from "../../domain/actor/acp-actor.ts";
import type { ActorDefinition } from "../../domain/actor/actor.ts";
import type { OpenAgent } from "../../actors/outside/agent-port.ts";
import type { AgentSources } from "../../actors/outside/installed-agents.ts";
import type { ModelRef } from "../../actors/models/model.ts";
import type { FactsCatalog, LearnedFacts } from "../../actors/models/model-facts.ts";
import type { PricedModels } from "../../actors/models/budgeted-models.ts";
import type { ModelGateway } from "../../actors/model-gateway.ts";
import type { CountModelTokens } from "../../actors/providers/prices.ts";
import type { Budget, BudgetWarning, Caps } from "../../ledger/budgets.ts";
import type { GroupScope } from "../../ledger/candidate-records.ts";
import type { Lease } from "../../ledger/leases.ts";
import type { ActorService } from "../../catalog/actor-service.ts";
import type { ContextConfiguration } from "../../context/front/context-configuration.ts";
import type { ContextPolicyService } from "../../catalog/context-policy-service.ts";
import type { ContextService } from "../../context/front/context-service.ts";
import type { CommandPolicy } from "../../confinement/command-policy.ts";
import type { GuardService } from "../../plans/guard-service.ts";
import type { McpServerService } from "../../catalog/mcp-server-service.ts";
import type { PlanContextService } from "../../runs/plan-context-service.ts";
import type { PlanApplier } from "../../apply/plan-applier.ts";
import type { PlanLifecycleService } from "../../plans/plan-lifecycle-service.ts";
import type { ProfileService } from "../../catalog/profile-service.ts";
import type { ProjectService } from "../../catalog/project-service.ts";
import type { ResourceService } from "../../catalog/resource-service.ts";
import type { ServerTokenService } from "../../catalog/server-token-service.ts";
import type { SkillService } from "../../catalog/skill-service.ts";
import type { ToolService } from "../../catalog/tool-service.ts";
import type { ValidationService } from "../../catalog/validation-service.ts";
import type { ConfigValues } from "../../platform/settings/config-file.ts";
import type { Store } from "../../store/port.ts";
import type { Tell } from "../../domain/run-event.ts";
import type { Paths } from "./paths.ts";
import type { Environment } from "../../domain/values/environment.ts";

/** Who acts in this call, where a surface serves several users. */
const actingUser = new AsyncLocalStorage<string>();

/** In `work`, and there alone, the application acts for this user. */
export function actingFor<T>(user: string, work: () => T): T {
  return actingUser.run(user, work);
}

export interface AppParts {
  readonly paths: Paths;
  /** Where relative paths begin. */
  readonly directory: string;
  readonly environment: Environment;
  /** Settings that win over the environment and the configuration file, by key. */
  readonly settings: Readonly<Record<string, string>>;
  /** Who acts; the configured user, or else the login name, unless given. */
  readonly user?: string | undefined;
  /** Hears of things that happen outside of a call: a recovery, a problem of the configuration. */
  readonly tell: Tell;
}

export class App {
  readonly paths: Paths;
  readonly environment: Environment;
  readonly #directory: string;
  /** The facts that the servers of models gave, as far as they were asked, by `provider/model`. */
  readonly learned: Map<string, LearnedFacts> = new Map();
  /** By address, until when an endpoint that did not answer a question about its models is not asked again. */
  readonly silentUntil: Map<string, number> = new Map();
  readonly #settings: Readonly<Record<string, string>>;
  readonly #user: string | undefined;
  readonly #tell: Tell;
  #store: Promise<Store> | undefined;
  #config: { readonly stamp: string; readonly values: Promise<ConfigValues> } | undefined;
  readonly #opened = new AsyncDisposableStack();

  constructor(parts: AppParts) {
    this.paths = parts.paths;
    this.environment = parts.environment;
    this.#directory = parts.directory;
    this.#settings = parts.settings;
    this.#user = parts.user;
    this.#tell = parts.tell;
  }

  store(): Promise<Store> {
    this.#store ??= this.#open();
    return this.#store;
  }

  /** Whether there is a store already: to look at something makes none. */
  async hasStore(): Promise<boolean> {
    return existsSync(this.paths.database) || (await this.sharedStore()) !== undefined;
  }

  /** The address of the store that machines share; undefined for the one in the data directory. */
  async sharedStore(): Promise<string | undefined> {
    return (await this.setting(STORE_SETTING)).value;
  }

  /** The first call after a crash finishes what the crash left half done. */
  async #open(): Promise<Store> {
    const { openStore } = await import("../../store/sqlite/open-store.ts");
    const address = await this.sharedStore();
    const store = await openStore(address ?? `sqlite:${this.paths.database}`);
    if (address !== undefined) await this.#beginOnShared(store);
    const { journalsToAttend } = await import("../../ledger/journal.ts");
    if ((await store.read(journalsToAttend)).length === 0) return store;
    const { recoverLandings } = await import("../../apply/plan-recovery.ts");
    const { recoveryNotices } = await import("./recovery-notices.ts");
    const parts = { store, user: await this.user(), data: new DataDirectory(this.paths.dataDir) };
    for (const notice of recoveryNotices(await recoverLandings(parts))) this.#tell(notice);
    return store;
  }

  /** The data directory is still needed, for all that belongs to this machine; seals are written apart from units. */
  async #beginOnShared(store: Store): Promise<void> {
    const { requireOwn } = await import("../../platform/ownership.ts");
    const { makeDirectories } = await import("../../platform/directories.ts");
    requireOwn(this.paths.dataDir, "The data directory");
    makeDirectories(this.paths.dataDir);
    const { keepSealed } = await import("../../store/tables/audit-sealer.ts");
    this.#opened.use(await keepSealed(store));
  }

  async applier(projects: readonly string[] = []): Promise<PlanApplier> {
    const { PlanApplier } = await import("../../apply/plan-applier.ts");
    const [store, service, user] = [await this.store(), await this.plans(), await this.user()];
    await this.commandPolicy(projects);
    return new PlanApplier({ store, service, user, data: new DataDirectory(this.paths.dataDir) });
  }

  /**
   * The directories that commands of plans see besides their sandbox, by the settings. Valid from here on for every
   * command that this process runs.
   */
  async commandPolicy(projects: readonly string[] = []): Promise<CommandPolicy> {
    const { setCommandPolicy } = await import("../../confinement/command-policy.ts");
    const { carryRulesOf, toolDirectoriesOf, variablesOf } = await import("../../domain/settings/sandbox-settings.ts");
    const { listOf } = await import("../../domain/settings/context-settings.ts");
    return setCommandPolicy({
      environment: this.environment,
      hidden: [this.paths.dataDir, this.paths.config],
      toolDirectories: toolDirectoriesOf((await this.setting("sandbox.tool-directories")).value),
      unixSockets: (await this.setting("sandbox.unix-sockets")).value === "on",
      carry: carryRulesOf(await this.#firstOf("sandbox.carry", projects)),
      setup: await this.#firstOf("sandbox.setup", projects),
      registries: listOf(await this.#firstOf("sandbox.registries", projects)),
      variables: variablesOf(await this.#firstOf("sandbox.environment", projects)),
    });
  }

  /** The value of the first project that has one of its own; else the user's. */
  async #firstOf(key: string, projects: readonly string[]): Promise<string | undefined> {
    const values = await Promise.all(projects.map((project) => this.setting(key, { project })));
    return (values.find(({ level }) => level === "project") ?? (await this.setting(key))).value;
  }

  /**
   * The configuration files, read again when another process has changed them: an application may live for days. The
   * stamps are taken before the files are read, so that a change in between is seen by the next call.
   */
  config(): Promise<ConfigValues> {
    const stamp = [this.paths.config, new DataDirectory(this.paths.dataDir).credentials].map(fileStamp).join(" ");
    if (this.#config?.stamp !== stamp) this.#config = { stamp, values: this.#readConfig() };
    return this.#config.values;
  }

  async plans(): Promise<PlanLifecycleService> {
    const { PlanLifecycleService } = await import("../../plans/plan-lifecycle-service.ts");
    return new PlanLifecycleService({ store: await this.store(), user: await this.user() });
  }

  async actors(): Promise<ActorService> {
    const { ActorService } = await import("../../catalog/actor-service.ts");
    return new ActorService({ store: await this.store(), user: await this.user(), providers: await this.providers() });
  }

  /** The names of the providers whose models are actors by themselves: the known ones and the configured ones. */
  async providers(): Promise<string[]> {
    const { providerNames, PROVIDER_TYPES } = await import("../../domain/settings/provider-settings.ts");
    return [...PROVIDER_TYPES, ...providerNames((await this.config()).global.keys())];
  }

  /** The actor of this name, registered or a model by itself. */
  async actorNamed(name: string): Promise<ActorDefinition> {
    const { resolveActor } = await import("../../catalog/resolve-actor.ts");
    const { global: settings } = await this.config();
    return resolveActor(name, { store: await this.store(), settings, environment: this.environment });
  }

  /** Where outside agents are looked for. */
  async agentSources(): Promise<AgentSources> {
    return { settings: (await this.config()).global, environment: this.environment };
  }

  /** Starts outside agents. */
  async openAgent(): Promise<OpenAgent> {
    const { outsideAgents } = await import("../../actors/outside/outside-agents.ts");
    return outsideAgents(await this.agentSources());
  }

  /** The model that an outside agent is given. */
  async agentModel(actor: AcpActorDefinition): Promise<ModelRef> {
    const { agentModelOf } = await import("../../actors/outside/agent-model.ts");
    return agentModelOf(actor, await this.agentSources(), (await this.models()).providers);
  }

  async profiles(): Promise<ProfileService> {
    const { ProfileService } = await import("../../catalog/profile-service.ts");
    return new ProfileService({ store: await this.store(), user: await this.user() });
  }

  async guards(): Promise<GuardService> {
    const { GuardService } = await import("../../plans/guard-service.ts");
    return new GuardService({ store: await this.store(), user: await this.user() });
  }

  /** The known facts of models: those that come with the package, and the list that was fetched last. */
  async modelFacts(): Promise<FactsCatalog> {
    const { readFacts } = await import("../../actors/models/facts-file.ts");
    return readFacts(new DataDirectory(this.paths.dataDir).models);
  }

  /**
   * The models of the configured providers. Tokens are counted to know what a call can cost, and whether what a
   * provider says of it can be true.
   */
  async models(): Promise<ModelGateway> {
    const { ModelGateway } = await import("../../actors/model-gateway.ts");
    return new ModelGateway({
      settings: (await this.config()).global,
      environment: this.environment,
      directory: this.#directory,
      facts: await this.modelFacts(),
      learned: this.learned,
      count: await this.countTokens(),
    });
  }

  /** By the tokenizer of each model's family. */
  async countTokens(): Promise<CountModelTokens> {
    const { tokenizerNamed, tokenizerOf } = await import("../../context/tokens/tokenizer.ts");
    return (text, model) => tokenizerNamed(tokenizerOf(model))(text);
  }

  /** The same within the budgets: of the plan whose lease is given, and of the day. */
  async budgetedModels(lease: Lease | undefined, onWarning: (warning: BudgetWarning) => void): Promise<PricedModels> {
    const { budgetedModels } = await import("../../runs/budget-caps.ts");
    const [models, store, user] = [await this.models(), await this.store(), await this.user()];
    return budgetedModels({ models, store, caps: await this.caps(), lease, user, onWarning });
  }

  /** For a call about all candidates of a group, which counts against their budget. */
  async groupModels(group: GroupScope, onWarning: (warning: BudgetWarning) => void): Promise<PricedModels> {
    const { budgetedModels } = await import("../../runs/budget-caps.ts");
    const [models, store, user] = [await this.models(), await this.store(), await this.user()];
    return budgetedModels({ models, store, caps: await this.caps(), lease: undefined, group, user, onWarning });
  }

  /** Of the plan whose lease is given, and of the day. */
  async budget(lease?: Lease): Promise<Budget> {
    const { Budget } = await import("../../ledger/budgets.ts");
    return new Budget({ store: await this.store(), caps: await this.caps(), lease, user: await this.user() });
  }

  async caps(): Promise<Caps> {
    const { configuredCaps } = await import("../../runs/budget-caps.ts");
    return configuredCaps((key) => this.setting(key));
  }

  async mcpServers(): Promise<McpServerService> {
    const { McpServerService } = await import("../../catalog/mcp-server-service.ts");
    return new McpServerService({ store: await this.store(), user: await this.user() });
  }

  async projects(): Promise<ProjectService> {
    const { ProjectService } = await import("../../catalog/project-service.ts");
    return new ProjectService({ store: await this.store(), user: await this.user() });
  }

  async policies(): Promise<ContextPolicyService> {
    const { ContextPolicyService } = await import("../../catalog/context-policy-service.ts");
    return new ContextPolicyService({ store: await this.store(), user: await this.user() });
  }

  async contextConfiguration(project?: string): Promise<ContextConfiguration> {
    const { contextConfiguration } = await import("../../context/front/context-configuration.ts");
    return contextConfiguration(async (key) => (await this.setting(key, { project })).value, this.environment);
  }

  /** All strategies that a policy may name. */
  async strategyNames(project: string): Promise<string[]> {
    const { strategyNames } = await import("../../context/front/context-service.ts");
    return strategyNames(await this.contextConfiguration(project));
  }

  /** Assembles context as the project's settings say; ended with the command. */
  async contextService(project?: string): Promise<ContextService> {
    const { ContextService } = await import("../../context/front/context-service.ts");
    const configuration = await this.contextConfiguration(project);
    const store = await this.store();
    const budget = await this.budget();
    return this.#opened.use(new ContextService({ store, dataDir: this.paths.dataDir, configuration, budget }));
  }

  async planContext(): Promise<PlanContextService> {
    const { PlanContextService } = await import("../../runs/plan-context-service.ts");
    const configuration = (project: string | undefined): Promise<ContextConfiguration> =>
      this.contextConfiguration(project);
    const budget = (lease: Lease): Promise<Budget> => this.budget(lease);
    return new PlanContextService({ store: await this.store(), dataDir: this.paths.dataDir, configuration, budget });
  }

  async resources(): Promise<ResourceService> {
    const { ResourceService } = await import("../../catalog/resource-service.ts");
    return new ResourceService({ store: await this.store(), user: await this.user() });
  }

  async serverTokens(): Promise<ServerTokenService> {
    const { ServerTokenService } = await import("../../catalog/server-token-service.ts");
    return new ServerTokenService({ store: await this.store(), user: await this.user() });
  }

  async skills(): Promise<SkillService> {
    const { SkillService } = await import("../../catalog/skill-service.ts");
    return new SkillService({ store: await this.store(), user: await this.user() });
  }

  async tools(): Promise<ToolService> {
    const { ToolService } = await import("../../catalog/tool-service.ts");
    return new ToolService({ store: await this.store(), user: await this.user() });
  }

  async validations(): Promise<ValidationService> {
    const { ValidationService } = await import("../../catalog/validation-service.ts");
    return new ValidationService({ store: await this.store(), user: await this.user() });
  }

  async setting(
    key: string,
    options: { project?: string | undefined; flag?: string | undefined } = {},
  ): Promise<ResolvedSetting> {
    const { global, projects } = await this.config();
    const project = options.project === undefined ? undefined : projects.get(options.project.toLowerCase());
    const sources = { environment: this.environment, global, project: project ?? new Map<string, string>() };
    return resolveSetting(findSetting(key), sources, options.flag ?? this.#settings[key]);
  }

  async user(): Promise<string> {
    return actingUser.getStore() ?? this.#user ?? (await this.setting("core.user")).value ?? loginName();
  }

  /**
   * A file that is missing or holds only comments needs no YAML parser, which would be a tenth of the start-up time.
   */
  async #readConfig(): Promise<ConfigValues> {
    const { config, dataDir } = this.paths;
    const empty = !existsSync(config) || onlyComments(config);
    const given = Object.entries(this.#settings);
    if (empty && !existsSync(new DataDirectory(dataDir).credentials))
      return { global: new Map(given), projects: new Map() };
    const { readConfig } = await import("../../platform/settings/config-file.ts");
    const { withCredentials } = await import("../../platform/settings/credentials.ts");
    const { values, notices } = await withCredentials(readConfig(config), { config, dataDir });
    for (const text of notices) this.#tell({ type: "notice", level: "warning", text });
    return { ...values, global: new Map([...values.global, ...given]) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#opened.disposeAsync();
    const store = await this.#store?.catch(() => undefined);
    await store?.close();
  }
}

/** Edits replace the file, so a change within one tick of the clock still shows as another inode. */
function fileStamp(file: string): string {
  const stats = statSync(file, { bigint: true, throwIfNoEntry: false });
  return stats === undefined ? "-" : `${stats.ino}:${stats.size}:${stats.mtimeNs}`;
}

function onlyComments(file: string): boolean {
  try {
    return readFileSync(file, "utf8")
      .split("\n")
      .every((line) => /^\s*(#|$)/.test(line));
  } catch {
    // The full reader says what is wrong with it.
    return false;
  }
}
