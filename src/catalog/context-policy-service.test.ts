import { expect, test } from "vitest";
import { NotFoundError, ValidationError } from "../domain/errors/errors.ts";
import { ProjectService } from "./project-service.ts";
import { verifyAudit } from "../store/tables/audit-verification.ts";
import { subscribeEvents } from "../ledger/event-log.ts";
import { TemporaryStore } from "../testing/temporary-store.ts";
import { ContextPolicyService } from "./context-policy-service.ts";

const strategies = ["simple-keyword", "symbol-rank"];

test("views are set, added to, cleared; each change has its event and its audit entry", async () => {
  await using temporary = await TemporaryStore.open("memory");
  const { store } = temporary;
  await new ProjectService({ store }).createProject({ name: "shop" });
  const service = new ContextPolicyService({ store });
  expect(await service.getPolicy("shop")).toEqual({ project: "local/shop", policy: {} });
  await service.setView("shop", "default", { include: ["src"], maxFileSize: null }, { strategies });
  await service.setView("SHOP", "default", { budget: 5, include: undefined }, { strategies });
  await service.setView("shop", "execute", { strategies: ["symbol-rank"] }, { strategies });
  const { policy } = await service.getPolicy("local/shop");
  expect(policy).toEqual({
    default: { include: ["src"], maxFileSize: null, budget: 5 },
    execute: { strategies: ["symbol-rank"] },
  });
  const cleared = await service.setView("shop", "default", { maxFiles: 3 }, { clear: true, strategies });
  expect(cleared.policy).toEqual({ default: { maxFiles: 3 }, execute: { strategies: ["symbol-rank"] } });
  await service.setView("shop", "execute", {}, { clear: true, strategies });
  expect((await service.getPolicy("shop")).policy).toEqual({ default: { maxFiles: 3 } });

  const changes: unknown[] = [];
  for await (const event of subscribeEvents(store, { after: 0 })) {
    if (event.type === "project.context_changed") changes.push(event.details);
    if (changes.length === 5) break;
  }
  expect(changes[3]).toEqual({
    project: "local/shop",
    view: "default",
    from: { include: ["src"], maxFileSize: null, budget: 5 },
    to: { maxFiles: 3 },
  });
  expect((await verifyAudit(store, { at: 0 })).problem).toBeUndefined();
});

test("an invalid change changes nothing; a project's policy is removed with it", async () => {
  await using temporary = await TemporaryStore.open("memory");
  const { store } = temporary;
  const projects = new ProjectService({ store });
  await projects.createProject({ name: "shop" });
  const service = new ContextPolicyService({ store });
  await expect(service.setView("shop", "default", { maxFiles: 0 }, { strategies })).rejects.toThrow(ValidationError);
  await expect(service.setView("shpo", "default", { maxFiles: 1 }, { strategies })).rejects.toThrow(NotFoundError);
  expect((await service.getPolicy("shop")).policy).toEqual({});
  await service.setView("shop", "execute", { maxFiles: 1 }, { strategies });
  await projects.deleteProject("shop");
  await projects.createProject({ name: "shop" });
  expect((await service.getPolicy("shop")).policy).toEqual({});
});

test("of changes at the same time none is lost", async () => {
  await using temporary = await TemporaryStore.open("file");
  const { store } = temporary;
  await new ProjectService({ store }).createProject({ name: "shop" });
  const service = new ContextPolicyService({ store });
  const changes = [{ include: ["a"] }, { exclude: ["b"] }, { maxFiles: 1 }, { maxFileSize: 2 }, { budget: 3 }];
  await Promise.all(changes.map((change) => service.setView("shop", "default", change, { strategies })));
  expect((await service.getPolicy("shop")).policy.default).toEqual(Object.assign({}, ...changes));
});
