import { join } from "node:path";

/**
 * The directory that holds everything CleverAgents keeps, by name: every path below it is spelled here and nowhere
 * else.
 */
export class DataDirectory {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  /** Its contents are beside it, in `<database>.contents`. */
  get database(): string {
    return join(this.path, "cleveragents.db");
  }

  /** One directory for each plan, attempt and resource. */
  get sandboxes(): string {
    return join(this.path, "sandboxes");
  }

  /** The files whose kernel locks keep two landings out of one resource. */
  get locks(): string {
    return join(this.path, "locks");
  }

  /** Indexes of code, counted tokens and assembled contexts: all of it can be made again. */
  get index(): string {
    return join(this.path, "index");
  }

  /** The list of models that was fetched last. */
  get models(): string {
    return join(this.path, "models.json");
  }

  get credentials(): string {
    return join(this.path, "credentials.yaml");
  }

  /** The homes of confined MCP servers, one directory for each. */
  get mcp(): string {
    return join(this.path, "mcp");
  }

  /** Where the running server is, for other commands of its user. */
  get server(): string {
    return join(this.path, "server.json");
  }

  /** The running server's token for its own user. */
  get serverToken(): string {
    return join(this.path, "server.token");
  }

  /** Held by the running server for as long as it lives. */
  get serverLock(): string {
    return join(this.path, "server.lock");
  }

  /** The definitions of others that the user allowed. */
  get trust(): string {
    return join(this.path, "trust.json");
  }
}
