import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tellNothing } from "../../domain/run-event.ts";
import { App } from "../base/app.ts";
import { approveEverything, type Call } from "../base/call.ts";
import { resolvePaths } from "../base/paths.ts";
import { localModels, whileLearning } from "./announce-model.ts";

const CALL: Call = {
  signal: new AbortController().signal,
  tell: tellNothing,
  ask: approveEverything,
  answers: "program",
};

test("a server that does not answer about its models delays no work, and is not asked again", async () => {
  let asked = 0;
  let cameIn = (): void => undefined;
  const came = new Promise<void>((resolve) => (cameIn = resolve));
  const server = createServer(() => {
    asked += 1;
    cameIn();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const dataDir = mkdtempSync(join(tmpdir(), "cleveragents-silent-"));
  const settings = { "provider.vllm.base-url": `http://127.0.0.1:${port}/v1` };
  await using app = new App({
    paths: resolvePaths({ dataDir }, {}, dataDir),
    directory: dataDir,
    environment: {},
    settings,
    tell: tellNothing,
  });
  const models = await localModels(app, [{ provider: "vllm", model: "qwen3" }]);
  // The work ends only after the question came in, and the question is never answered.
  expect(await whileLearning(app, models, CALL, () => came.then(() => "done"))).toBe("done");
  expect(await whileLearning(app, models, CALL, () => Promise.resolve("again"))).toBe("again");
  expect(asked).toBe(1);
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  rmSync(dataDir, { recursive: true, force: true });
});

test("a model of which enough is known is not asked for", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "cleveragents-known-"));
  await using app = new App({
    paths: resolvePaths({ dataDir }, {}, dataDir),
    directory: dataDir,
    environment: { OPENAI_API_KEY: "a-key-for-tests" },
    settings: {},
    tell: tellNothing,
  });
  expect(await localModels(app, [{ provider: "openai", model: "gpt-5" }])).toEqual([]);
  rmSync(dataDir, { recursive: true, force: true });
});
