/**
 * The network of the commands of one sandbox: the machine's, a namespace for each command, or a room that they share.
 * The room is made when it is needed: by a profile that lets commands reach registries, where a proxy listens in it,
 * and by a command in the background, so that others reach its server.
 */
import type { NetworkAccess } from "../../domain/profile/automation-profile.ts";
import { NetworkRoom } from "../network-room.ts";
import { commandPolicy } from "../command-policy.ts";
import { registriesOf, registriesOfRepository, registryVariables } from "./registry-hosts.ts";
import { RegistryProxy } from "./registry-proxy.ts";

export class CommandNetwork implements AsyncDisposable {
  readonly #access: NetworkAccess;
  readonly #checkout: string;
  #room: Promise<NetworkRoom | undefined> | undefined;
  #proxy: { readonly proxy: RegistryProxy; readonly variables: Readonly<Record<string, string>> } | undefined;

  /** `checkout`: the user's directory, whose package managers count. */
  constructor(access: NetworkAccess, checkout: string) {
    this.#access = access;
    this.#checkout = checkout;
  }

  /** Where the next command runs. */
  async place(): Promise<"open" | "none" | NetworkRoom> {
    if (this.#access === "on") return "open";
    if (this.#access === "registries") await this.share();
    return (await this.#room) ?? "none";
  }

  /** From here on all commands are in one room. */
  async share(): Promise<void> {
    if (this.#access === "on") return;
    const room = (this.#room ??= this.#opened());
    try {
      await room;
    } catch (error) {
      // The next command tries again.
      if (this.#room === room) this.#room = undefined;
      throw error;
    }
  }

  /** The variables by which programs find the proxy. */
  get variables(): Readonly<Record<string, string>> {
    return this.#proxy?.variables ?? {};
  }

  /** The refusals of the proxy since this was asked last, for the output of a command. */
  refusals(): string | undefined {
    const sentences = this.#proxy?.proxy.refusals() ?? [];
    return sentences.length === 0 ? undefined : sentences.map((text) => `[network: ${text}]`).join("\n");
  }

  async #opened(): Promise<NetworkRoom | undefined> {
    const room = await NetworkRoom.open();
    if (room === undefined || this.#access !== "registries") return room;
    await using opening = new AsyncDisposableStack();
    opening.use(room);
    const { registries: allowed, environment } = commandPolicy();
    const registries = await registriesOf(this.#checkout, allowed, environment);
    const unconfirmed = registriesOfRepository(this.#checkout);
    const { server, port } = await room.listen();
    this.#proxy = {
      proxy: new RegistryProxy(server, { registries, unconfirmed }),
      variables: {
        ...proxyVariables(port, new Set(registries.map(({ host }) => host))),
        ...registryVariables(environment),
      },
    };
    opening.move();
    return room;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#proxy?.proxy[Symbol.asyncDispose]();
    // One that could not be made was reported to the command that needed it.
    await (await this.#room?.catch(() => undefined))?.[Symbol.asyncDispose]();
  }
}

const LOCAL = ["localhost", "127.0.0.1", "::1"];

/** Servers of commands are reached directly, but for a registry that is on this machine. */
function proxyVariables(port: number, registries: ReadonlySet<string>): Record<string, string> {
  const proxy = `http://127.0.0.1:${port}`;
  const direct = LOCAL.filter((host) => !registries.has(host)).join(",");
  const java = ["http", "https"].map((kind) => `-D${kind}.proxyHost=127.0.0.1 -D${kind}.proxyPort=${port}`).join(" ");
  return {
    ...Object.fromEntries(["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"].map((name) => [name, proxy])),
    npm_config_proxy: proxy,
    npm_config_https_proxy: proxy,
    NO_PROXY: direct,
    no_proxy: direct,
    // Node's own clients look at the variables since version 24.
    NODE_USE_ENV_PROXY: "1",
    MAVEN_OPTS: process.env["MAVEN_OPTS"] ?? java,
    GRADLE_OPTS: process.env["GRADLE_OPTS"] ?? java,
  };
}
