import { once } from "node:events";
import { expect, test } from "vitest";
import { OngoingWork } from "./ongoing-work.ts";

test("one operation more than are taken is refused, and taken when another has ended", async () => {
  const work = new OngoingWork(1);
  const first = Promise.withResolvers<string>();
  const running = work.run(() => first.promise);
  await expect(work.run(() => Promise.resolve(""))).rejects.toMatchObject({ code: "server_busy" });
  expect(work.running).toBe(1);
  first.resolve("done");
  expect(await running).toBe("done");
  await expect(work.run(() => Promise.reject(new Error("failed")))).rejects.toThrow("failed");
  expect(await work.run(() => Promise.resolve("second"))).toBe("second");
});

test("an operation that ends by itself is waited for; nothing begins meanwhile", async () => {
  const work = new OngoingWork();
  const slow = Promise.withResolvers<string>();
  const running = work.run(() => slow.promise);
  const ended = work.end(60_000);
  expect(work.isStopping).toBe(true);
  await expect(work.run(() => Promise.resolve(""))).rejects.toThrow("The server is stopping.");
  slow.resolve("done");
  await ended;
  expect(await running).toBe("done");
});

test("an operation that does not end in time is stopped", async () => {
  const work = new OngoingWork();
  const running = work.run(async (signal) => {
    await once(signal, "abort");
    return "stopped where it can go on";
  });
  await work.end(1);
  expect(await running).toBe("stopped where it can go on");
});
