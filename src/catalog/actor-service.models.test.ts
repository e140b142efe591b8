import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { openStore } from "../store/sqlite/open-store.ts";
import type { Store } from "../store/port.ts";
import type { ActorInput } from "../domain/actor/actor-parser.ts";
import { parseActors } from "../domain/actor/actor-parser.ts";
import { ConflictError, ValidationError } from "../domain/errors/errors.ts";
import { nextStep } from "../domain/errors/next-step.ts";
import { TOOL_NAMES } from "../domain/names/tool-names.ts";
import { lineProblem, textProblem } from "../domain/text/text.ts";
import { outcomeOf, winners } from "../testing/outcome.ts";
import { STORE_KINDS, TemporaryStore } from "../testing/temporary-store.ts";
import { parseActorFile } from "./actor-file.ts";
import { ActorService } from "./actor-service.ts";

const LLM = { name: "thinker", type: "llm", description: "x", model: "openai/gpt-4o" } as const;

function graph(name: string, ...references: string[]): ActorInput {
  const nodes = references.map((actor_ref, index) => ({ id: `n${index}`, type: "subgraph", actor_ref }));
  const last = { id: "end", type: "llm", prompt: "x" };
  const ids = [...nodes.map(({ id }) => id), "end"];
  const edges = ids.slice(1).map((to, index) => ({ from: ids[index], to }));
  return { name, type: "graph", description: "x", route: { entry: ids[0], nodes: [...nodes, last], edges } };
}

async function names(store: Store): Promise<string[]> {
  return (await new ActorService({ store }).listActors()).map(({ name }) => name);
}

describe.each(STORE_KINDS)("on a %s store", (kind) => {
  test("the actors of one file are added all together or not at all", async () => {
    await using temporary = await TemporaryStore.open(kind);
    const { store } = temporary;
    const actors = new ActorService({ store });
    await actors.addActor({ ...LLM, name: "taken" });
    const file = (last: string) => ({
      actors: Object.fromEntries(["a", "b", last].map((key) => [key, { type: "llm" }])),
    });
    await expect(actors.addActors(parseActors(file("Taken")))).rejects.toThrow(ConflictError);
    expect(await names(store)).toEqual(["local/taken"]);
    await actors.addActors(parseActors(file("c")));
    expect(await names(store)).toEqual(["local/a", "local/b", "local/c", "local/taken"]);
    const events = await store.read((reader) => reader.all("SELECT type FROM events"));
    expect(events).toHaveLength(4);
  });

  test("what a graph refers to must be there, of its type, and not the graph itself", async () => {
    await using temporary = await TemporaryStore.open(kind);
    const { store } = temporary;
    const actors = new ActorService({ store, providers: ["openai"] });
    await actors.addActor(LLM);
    const refused = async (input: ActorInput, message: string): Promise<void> => {
      await expect(actors.addActor(input)).rejects.toThrow(ValidationError);
      await expect(actors.addActor(input)).rejects.toThrow(message);
    };
    await refused(graph("a", "thniker"), '"local/thniker", which is not registered');
    await refused(graph("a", "thinker"), "which is of type llm where graph is needed");
    await refused(graph("a", "openai/gpt-4o"), "which is not registered");
    await refused(graph("a", "A"), "graphs contain each other: local/a → local/A");
    const asking = (actor_ref: string): ActorInput => ({
      name: "asking",
      type: "graph",
      description: "x",
      route: { entry: "n", nodes: { n: { type: "llm", actor_ref } } },
    });
    await refused(asking("unknown/model"), "which is not registered");
    await actors.addActor(asking("openai/gpt-4o"));
    await actors.addActor(graph("inner"));
    await actors.addActor(graph("outer", "INNER", "inner"));
    const circle = [graph("p", "q"), graph("q", "r"), graph("r", "p")].flatMap((input) => parseActors(input));
    await expect(actors.addActors(circle)).rejects.toThrow("local/p → local/q → local/r → local/p");
    expect(await names(store)).toEqual(["local/asking", "local/inner", "local/outer", "local/thinker"]);
  });

  test("an actor that a graph needs stays until the graph is gone", async () => {
    await using temporary = await TemporaryStore.open(kind);
    const actors = new ActorService({ store: temporary.store });
    await actors.addActor(graph("inner"));
    await actors.addActor(graph("outer", "inner"));
    expect((await actors.getActor("inner")).neededBy).toEqual(["local/outer"]);
    await expect(actors.removeActor("INNER")).rejects.toMatchObject({
      code: "conflict",
      actual: { graphs: ["local/outer"] },
      next: [nextStep("actor.remove", { actor: "local/outer" })],
    });
    await actors.removeActor("outer");
    await actors.removeActor("inner");
    expect(await names(temporary.store)).toEqual([]);
  });

  test("of a graph and the removal of what it needs exactly one happens", async () => {
    await using temporary = await TemporaryStore.open(kind);
    await using elsewhere = await openStore(temporary.store.url);
    const actors = new ActorService({ store: temporary.store });
    const others = new ActorService({ store: elsewhere });
    for (let round = 0; round < 20; round += 1) {
      await actors.addActor(graph(`inner${round}`));
      const add = () => others.addActor(graph(`outer${round}`, `inner${round}`));
      const remove = () => actors.removeActor(`inner${round}`);
      const both = round % 2 === 0 ? [add, remove] : [remove, add];
      expect(winners(await Promise.all(both.map((act) => outcomeOf(act()))))).toHaveLength(1);
    }
  });
});

test("no registered actor has the namespace of a provider, and every user may use local", async () => {
  await using temporary = await TemporaryStore.open("memory");
  const actors = new ActorService({ store: temporary.store, providers: ["ollama", "local"] });
  await expect(actors.addActor({ ...LLM, name: "Ollama/mine" })).rejects.toThrow("belongs to the models of a provider");
  expect((await actors.addActor({ ...LLM, name: "local/mine" })).name).toBe("local/mine");
});

describe("what was added comes back the same", () => {
  const text = fc
    .string({ unit: "binary", maxLength: 30 })
    .filter((one) => one.trim() !== "" && textProblem(one) === undefined && !one.includes("$"));
  const tools = fc.subarray([...TOOL_NAMES]);
  const id = fc.nat(99_999).map((number) => `n${number}`);
  const json = fc.dictionary(
    fc.stringMatching(/^[a-z]{1,5}$/),
    fc.oneof(text, fc.integer(), fc.boolean(), fc.constant(null), fc.array(fc.integer(), { maxLength: 3 })),
    { maxKeys: 3 },
  );
  const optional = { requiredKeys: [] };
  const common = {
    description: text.filter((one) => lineProblem(one) === undefined),
    provider: fc.constantFrom("openai", "Ollama", "house-2"),
    model: fc.stringMatching(/^[a-z][a-z0-9./:-]{0,20}$/),
    system_prompt: text,
    options: fc.record(
      {
        temperature: fc.double({ min: 0, max: 2, noNaN: true }),
        max_output_tokens: fc.integer({ min: 1, max: 10_000 }),
        top_p: fc.double({ min: 0, max: 1, noNaN: true }),
        base_url: fc.constantFrom("http://127.0.0.1:8080/v1", "https://models.example.com"),
      },
      optional,
    ),
    context_view: fc.constantFrom("default", "strategize", "execute", "strategist"),
    memory: fc.record(
      { max_messages: fc.integer({ min: 1, max: 99 }), max_tokens: fc.integer({ min: 1, max: 99 }) },
      optional,
    ),
    response_format: json.map((properties) => ({ type: "object", properties })),
    unsafe: fc.boolean(),
  };
  const node = fc.oneof(
    fc.record({ type: fc.constant("llm"), prompt: text, system_prompt: text, tools, output_key: id }),
    fc.record({ type: fc.constant("tool"), tool: fc.constantFrom(...TOOL_NAMES), params: json }),
    fc.record({ type: fc.constant("function"), function: fc.constant("set"), input: json.map((value) => ({ value })) }),
    fc.record({
      type: fc.constant("validation"),
      tool: fc.constant("shell_execute"),
      params: json,
      check: fc.constant("a.b[0] == 'x'"),
    }),
  );
  /** A line of nodes with a conditional one at the end that may go back to any of them. */
  const route = fc
    .tuple(
      fc.uniqueArray(id, { minLength: 1, maxLength: 6 }),
      fc.array(node, { minLength: 6, maxLength: 6 }),
      fc.nat(5),
      fc.boolean(),
    )
    .map(([ids, kinds, back, listed]) => {
      const nodes = ids.map((one, index) => ({ id: one, ...kinds[index] }));
      const to = ids[back % ids.length];
      const last = { id: "end", type: "conditional", conditions: [{ check: "length(x) > 2", to }, { to: "out" }] };
      const out = { id: "out", type: "function", function: "length", input: { key: "x" } };
      const all = [...nodes, last, out];
      const line = [...ids, "end"];
      return {
        entry: ids[0],
        exits: ["out"],
        nodes: listed ? all : Object.fromEntries(all.map(({ id: key, ...rest }) => [key, rest])),
        edges: line.slice(1).map((target, index) => ({ from: line[index], to: target })),
        state: { x: "append" },
        limits: { max_visits: 3 },
      };
    });
  const input = fc.oneof(
    fc.record({ type: fc.constant("llm"), ...common, tools }, { requiredKeys: ["type", "description"] }),
    fc.record({ type: fc.constant("graph"), ...common, route }, { requiredKeys: ["type", "description", "route"] }),
  );

  test("with any content, from the file to another process's store", async () => {
    await using temporary = await TemporaryStore.open("file");
    await using elsewhere = await openStore(temporary.store.url);
    let count = 0;
    await fc.assert(
      fc.asyncProperty(input, async (given) => {
        const name = `local/a${(count += 1)}`;
        const definitions = parseActorFile(stringify({ name, ...given }), "a.yaml", {});
        const added = await new ActorService({ store: temporary.store }).addActors(definitions);
        const found = await new ActorService({ store: elsewhere }).getActor(name);
        expect(found).toEqual({ ...added[0], usedBy: [], neededBy: [] });
        expect(found).toEqual(expect.objectContaining(JSON.parse(JSON.stringify(definitions[0])) as object));
      }),
      { numRuns: 60 },
    );
  });
});
