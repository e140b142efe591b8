import { expect, test } from "vitest";
import { TemporaryStore } from "../testing/temporary-store.ts";
import { ActorService } from "./actor-service.ts";
import { resolveActor } from "./resolve-actor.ts";
import { nextStep } from "../domain/errors/next-step.ts";

const LLM = { type: "llm", description: "x", model: "openai/gpt-4o" } as const;

async function world() {
  const temporary = await TemporaryStore.open("memory");
  const actors = new ActorService({ store: temporary.store, providers: ["ollama"] });
  const settings = new Map([
    ["provider.ollama.base-url", "http://127.0.0.1:1"],
    ["provider.ollama.models", "qwen3,mixtral:8x7b"],
  ]);
  const find = (name: string) => resolveActor(name, { store: temporary.store, settings, environment: {} });
  return { actors, find, [Symbol.asyncDispose]: () => temporary[Symbol.asyncDispose]() };
}

test("a registered actor is found under its name, a model under its provider's", async () => {
  await using w = await world();
  await w.actors.addActor({ ...LLM, name: "Team/Thinker" });
  expect(await w.find("team/THINKER")).toMatchObject({ name: "Team/Thinker", version: 1 });
  expect(await w.find("ollama/qwen3")).toMatchObject({ name: "ollama/qwen3", provider: "ollama", model: "qwen3" });
  expect(await w.find("ollama/some/other:1.5")).toMatchObject({ provider: "ollama", model: "some/other:1.5" });
  expect(await w.find("scripted//a place/../Demo.yaml")).toMatchObject({ model: "/a place/../Demo.yaml" });
  expect(await w.find("scripted/Demo.yaml")).toMatchObject({ provider: "scripted", model: "Demo.yaml" });
});

test("what is not there is not found, with what may have been meant", async () => {
  await using w = await world();
  await w.actors.addActor({ ...LLM, name: "thinker" });
  await expect(w.find("thniker")).rejects.toMatchObject({ code: "not_found", detail: { suggestion: "local/thinker" } });
  await expect(w.find("qwen3")).rejects.toMatchObject({ code: "not_found", detail: { suggestion: "ollama/qwen3" } });
  await expect(w.find("olama/qwen3")).rejects.toMatchObject({
    code: "not_found",
    detail: { suggestion: "ollama/qwen3" },
  });
  await expect(w.find("zebra")).rejects.toMatchObject({ code: "not_found", next: [nextStep("actor.list")] });
  await expect(w.find("openai/gpt-4o")).rejects.toMatchObject({ code: "configuration" });
  await expect(w.find("a b")).rejects.toMatchObject({ code: "validation" });
});
