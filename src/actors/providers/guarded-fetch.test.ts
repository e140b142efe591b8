import { describe, expect, test } from "vitest";
import { guardedFetch, type FetchLimits } from "./guarded-fetch.ts";
import { ModelError } from "../models/model-error.ts";
import { plainServer } from "../testing/model-world.ts";

const MODEL = { provider: "vllm", model: "qwen3" };
const ROOMY: FetchLimits = { totalMs: 10_000, bytes: 100_000, errorBytes: 1_000 };

function fetcher(baseUrl: string, limits: Partial<FetchLimits> = {}, idleTimeoutMs = 5_000): typeof fetch {
  return guardedFetch({ model: MODEL, baseUrl, idleTimeoutMs }, { ...ROOMY, ...limits });
}

async function refusal(promise: Promise<unknown>): Promise<ModelError> {
  const error = await promise.then(
    () => undefined,
    (one: unknown) => one,
  );
  if (!(error instanceof ModelError)) throw new Error(`No refusal but ${String(error)}.`);
  return error;
}

describe("the way to an endpoint", () => {
  test("leads there and nowhere else", async () => {
    await using here = await plainServer((_request, response) => response.end("here"));
    await using there = await plainServer((_request, response) => response.end("there"));
    const guarded = fetcher(`${here.url}/v1`);
    expect(await (await guarded(`${here.url}/v1/chat`)).text()).toBe("here");
    for (const url of [there.url, `${here.url}@127.0.0.1:1/`, "http://localhost:1/v1", new URL(there.url)]) {
      expect(await refusal(guarded(url))).toMatchObject({ kind: "rejected" });
    }
    expect(await refusal(guarded(new Request(there.url)))).toMatchObject({ kind: "rejected" });
    expect([here.seen(), there.seen()]).toEqual([1, 0]);
  });

  test("does not lead to a link-local address, whichever name it has", async () => {
    await using server = await plainServer((_request, response) => response.end("here"));
    const { port } = new URL(server.url);
    const url = `http://localhost:${port}/v1`;
    for (const address of ["169.254.169.254", "fe80::1", "::ffff:169.254.169.254", "fd00:ec2::254"]) {
      const guard = { model: MODEL, baseUrl: url, idleTimeoutMs: 5_000 };
      const guarded = guardedFetch(guard, ROOMY, async () => ["127.0.0.1", address]);
      const error = await refusal(guarded(url));
      expect(error).toMatchObject({ kind: "rejected" });
      expect(error.message).toContain("nothing is sent there");
    }
    expect(server.seen()).toBe(0);
    expect(await (await fetcher(url)(url)).text()).toBe("here");
  });

  test("ends where too much comes", async () => {
    await using server = await plainServer((_request, response) => response.end("x".repeat(200_000)));
    const response = await fetcher(server.url)(server.url);
    expect(await refusal(response.text())).toMatchObject({ kind: "malformed" });
    expect((await (await fetcher(server.url, { bytes: 200_000 })(server.url)).text()).length).toBe(200_000);
  });

  test("keeps no process waiting once the caller has left, also when the body is not read", async () => {
    await using server = await plainServer((_request, response) => void response.write("x".repeat(50_000)));
    const left = new AbortController();
    const response = await fetcher(server.url)(server.url, { signal: left.signal });
    expect(response.ok).toBe(true);
    const timers = (): number => process.getActiveResourcesInfo().filter((one) => one === "Timeout").length;
    const before = timers();
    left.abort();
    expect(timers()).toBe(before - 2);
  });

  test("keeps the beginning of a long error", async () => {
    await using server = await plainServer((_request, response) => {
      response.writeHead(500);
      response.end(`Oops. ${"x".repeat(100_000)}`);
    });
    const response = await fetcher(server.url)(server.url);
    expect([response.status, await response.text()]).toEqual([500, `Oops. ${"x".repeat(994)}`]);
  });

  test("ends when it takes too long altogether, although something comes all the time", async () => {
    await using server = await plainServer((_request, response) => {
      const drip = setInterval(() => response.write("."), 20);
      response.on("close", () => clearInterval(drip));
    });
    const response = await fetcher(server.url, { totalMs: 300 })(server.url);
    const error = await refusal(response.text());
    expect(error).toMatchObject({ kind: "timeout" });
    expect(error.message).toContain("did not come to an end");
  });

  test("waits as long as something comes", async () => {
    await using server = await plainServer((_request, response) => {
      let count = 0;
      const drip = setInterval(() => {
        count += 1;
        response.write(".");
        if (count === 8) {
          clearInterval(drip);
          response.end();
        }
      }, 200);
    });
    const response = await fetcher(server.url, {}, 1_000)(server.url);
    expect(await response.text()).toBe("........");
  });

  test("is as well guarded for those who have more patience than Node", async () => {
    await using there = await plainServer((_request, response) => response.end("there"));
    await using here = await plainServer((request, response) => {
      if (request.url === "/away") response.writeHead(308, { location: there.url });
      response.end(`${request.method} ${String(request.headers["x-a"])}`);
    });
    const guarded = fetcher(here.url, {}, 400_000);
    const response = await guarded(`${here.url}/v1`, { method: "POST", headers: { "x-a": "b" }, body: "c" });
    expect(await response.text()).toBe("POST b");
    expect(await refusal(guarded(`${here.url}/away`))).toMatchObject({ kind: "rejected" });
    expect(there.seen()).toBe(0);
    const stop = new AbortController();
    stop.abort();
    await expect(guarded(here.url, { signal: stop.signal })).rejects.toThrow("aborted");
  });

  test("an answer that breaks off is said to have", async () => {
    await using server = await plainServer((_request, response) => {
      response.write("half");
      setTimeout(() => response.destroy(), 20);
    });
    const response = await fetcher(server.url)(server.url);
    expect(await refusal(response.text())).toMatchObject({ kind: "network" });
  });
});
