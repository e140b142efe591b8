/** Where the server listens: an address and a port, or a socket of the file system that only its user can open. */
import { once } from "node:events";
import { existsSync, lstatSync, rmSync } from "node:fs";
import type { Server } from "node:http";
import { connect } from "node:net";
import { AgentsError, UsageError } from "../domain/errors/errors.ts";

export type ListenPlace =
  | { readonly kind: "port"; readonly host: string; readonly port: number }
  | { readonly kind: "socket"; readonly path: string };

/** The server's url; for a socket "unix:" and its path. */
export async function listen(server: Server, place: ListenPlace): Promise<string> {
  if (place.kind === "socket") return listenOnSocket(server, place.path);
  const { host, port } = place;
  await listening(server, () => server.listen({ host, port }), place);
  const address = server.address();
  const bound = typeof address === "object" && address !== null ? address.port : port;
  return `http://${host.includes(":") ? `[${host}]` : host}:${bound}`;
}

async function listenOnSocket(server: Server, path: string): Promise<string> {
  await removeStale(path);
  // The socket is made within the call of listen: no one else can open it, not even for a moment.
  const before = process.umask(0o177);
  const open = (): void => {
    try {
      server.listen({ path });
    } finally {
      process.umask(before);
    }
  };
  await listening(server, open, { kind: "socket", path });
  return `unix:${path}`;
}

async function listening(server: Server, open: () => void, place: ListenPlace): Promise<void> {
  try {
    const opened = once(server, "listening");
    open();
    await opened;
  } catch (error) {
    throw listenError(error, place);
  }
}

/** A socket that a killed server left behind: nothing answers there. */
async function removeStale(path: string): Promise<void> {
  if (!existsSync(path)) return;
  if (!lstatSync(path).isSocket()) {
    throw new UsageError(`${path} is there already, and is not a socket.`, {
      kept: "It was not touched; nothing was started.",
      next: [{ text: "name another path with --socket" }],
    });
  }
  if (!(await answers(path))) rmSync(path, { force: true });
}

function answers(path: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const probe = connect({ path }, () => resolve(true)).on("error", () => resolve(false));
  return promise.finally(() => probe.destroy());
}

const REASONS: Readonly<Record<string, (place: string) => readonly [message: string, next: string]>> = {
  EADDRINUSE: (place) => [`Another program listens on ${place}.`, "name another port with --port; 0 takes a free one"],
  EADDRNOTAVAIL: (place) => [`This machine has no address for ${place}.`, "name one of its addresses with --host"],
  ENOTFOUND: (place) => [`There is no host of ${place}.`, "name an address of this machine with --host"],
  EACCES: (place) => [`You may not listen on ${place}.`, "name a port above 1023, or a directory of yours"],
};

function listenError(error: unknown, place: ListenPlace): AgentsError {
  const where = place.kind === "socket" ? place.path : `${place.host}:${place.port}`;
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const [message, next] = REASONS[code]?.(where) ?? [
    `The server cannot listen on ${where}: ${String(error)}.`,
    "name another place with --host, --port or --socket",
  ];
  return new AgentsError("configuration", message, {
    kept: "Nothing was started.",
    next: [{ text: next }],
    cause: error,
  });
}
