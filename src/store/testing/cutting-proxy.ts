/** A network between a store and its database that breaks while a COMMIT is under way. */
import { connect, createServer, type Server, type Socket } from "node:net";

/** Before the server hears of the COMMIT, or after it has answered and before the client hears of that. */
export type Cut = "before" | "after";

export class CuttingProxy implements AsyncDisposable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #next: Cut | undefined;
  cuts = 0;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async before(port: number): Promise<CuttingProxy> {
    const server = createServer();
    const proxy = new CuttingProxy(server);
    server.on("connection", (client) => proxy.#join(client, connect(port, "127.0.0.1")));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  get port(): number {
    const address = this.#server.address();
    if (typeof address !== "object" || address === null) throw new Error("the proxy does not listen");
    return address.port;
  }

  /** The next COMMIT is cut off in this way. */
  cutNext(cut: Cut): void {
    this.#next = cut;
  }

  /** From now on no connection can be made. */
  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #join(client: Socket, server: Socket): void {
    let isAnswerLost = false;
    const end = (): void => {
      client.destroy();
      server.destroy();
    };
    for (const socket of [client, server]) {
      this.#sockets.add(socket);
      socket.on("error", end).on("close", () => {
        this.#sockets.delete(socket);
        end();
      });
    }
    client.on("data", (bytes) => {
      const cut = bytes.includes("COMMIT") ? this.#next : undefined;
      if (cut === undefined) return void server.write(bytes);
      this.#next = undefined;
      this.cuts += 1;
      if (cut === "before") return end();
      isAnswerLost = true;
      server.write(bytes);
    });
    server.on("data", (bytes) => {
      if (isAnswerLost) end();
      else client.write(bytes);
    });
  }
}
