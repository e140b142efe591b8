/** A store in memory has the same patience as one in a file: opening it beside threads that write waits for them. */
import { Worker } from "node:worker_threads";
import { once } from "node:events";
import { expect, test } from "vitest";
import { openStore } from "./open-store.ts";

/** Holds the write lock nearly all of the time; lets go for moments in between. */
const WRITER = `
  const { DatabaseSync } = require("node:sqlite");
  const { parentPort, workerData } = require("node:worker_threads");
  const pause = new Int32Array(new SharedArrayBuffer(4));
  const database = new DatabaseSync(workerData.location, { timeout: 5_000 });
  const stopped = new Int32Array(workerData.stopped);
  for (let round = 0; Atomics.load(stopped, 0) === 0; round += 1) {
    database.exec("BEGIN IMMEDIATE");
    if (round === 0) parentPort.postMessage("holding");
    Atomics.wait(pause, 0, 0, 30);
    database.exec("COMMIT");
    Atomics.wait(pause, 0, 0, 0.4);
  }
  database.close();
`;

test("opening a store in memory waits for threads that write, as long as a file would", async () => {
  await using first = await openStore("memory:");
  const location = `file:/cleveragents-${first.url.slice("memory:".length)}?vfs=memdb`;
  const stopped = new SharedArrayBuffer(4);
  const writer = new Worker(WRITER, { eval: true, workerData: { location, stopped } });
  await once(writer, "message");
  const ended = once(writer, "exit");
  try {
    for (let round = 0; round < 8; round += 1) {
      const store = await openStore(first.url);
      await store.close();
    }
  } finally {
    Atomics.store(new Int32Array(stopped), 0, 1);
    await ended;
  }
  expect(await first.read((reader) => reader.all("SELECT * FROM plans"))).toEqual([]);
});
