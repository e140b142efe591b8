/** Images from the request and from files, up to the wire of each provider and back from the store. */
import { hash } from "node:crypto";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { strictServer, strictSettings } from "../actors/testing/strict-server.ts";
import type { WireScript } from "../actors/testing/wires/wire.ts";
import { UsageError } from "../domain/errors/errors.ts";
import { GIF, pngOf } from "../testing/images.ts";
import { calls, FIX, LoopWorld, step } from "./testing/loop-world.ts";

const ACTORS = ["anthropic/claude-sonnet-4-5", "openai/gpt-5", "google/gemini-2.5-pro", "vllm/qwen-vl"];
const KEY = "a-key-for-tests";
const SHOT = pngOf(40, 30);
const sha256 = (bytes: Uint8Array): string => hash("sha256", bytes);

function worldAt(url: string): LoopWorld {
  const world = new LoopWorld();
  world.commit({ "icons/one.gif": GIF, "icons/big.png": pngOf(8_001, 1), "icons/broken.png": SHOT.subarray(0, 12) });
  writeFileSync(join(world.directory, "shot.png"), SHOT);
  world.settings = { ...strictSettings(url), "provider.vllm.images": "qwen-vl" };
  world.environment = { ANTHROPIC_API_KEY: KEY, OPENAI_API_KEY: KEY, GEMINI_API_KEY: KEY, VLLM_API_KEY: KEY };
  return world;
}

/** Reads an image, decides, writes a note, and does the same in a second request. */
const looker: WireScript = ({ messages }) => {
  const turn = messages.filter(({ role }) => role === "assistant").length;
  const call = (name: string, input: object): object => ({ calls: [{ name, input }] });
  const answers = [
    call("read_file", { path: "icons/one.gif" }),
    call("record_strategy", { steps: [FIX] }),
    call("write_file", { path: "note.txt", content: "seen\n" }),
    { text: "I have seen both." },
  ];
  return answers[turn] ?? { text: "NOTHING TO DO: still there." };
};

test.each(ACTORS)(
  "%s is shown images of the request and of files, also when the plan continues later",
  async (actor) => {
    await using server = await strictServer({ script: looker });
    await using world = worldAt(server.url);
    const images = [join(world.directory, "shot.png")];
    const output = await world.run("look at it", { actor, images });
    expect(output).toMatchObject({ outcome: "executed", answer: "I have seen both." });
    const { planId } = output as { planId: string };
    rmSync(join(world.directory, "shot.png"));
    await world.restart();
    expect(await world.run("and now?", { continue: true })).toMatchObject({ answer: "NOTHING TO DO: still there." });
    expect(server.log.flatMap(({ refused }) => refused ?? [])).toEqual([]);
    const sent = server.log.map(({ body }) => JSON.stringify(body));
    const has = (image: Buffer): number[] =>
      sent.flatMap((body, index) => (body.includes(image.toString("base64")) ? [index] : []));
    expect(has(SHOT)).toEqual([0, 1, 2, 3, 4]);
    expect(has(GIF)).toEqual([1, 2, 3, 4]);
    const { messages } = await world.shown(planId, "follow-up-1.1");
    expect(messages.flatMap((message) => message.images ?? [])).toEqual([
      { name: "shot.png", sha256: sha256(SHOT), type: "image/png", bytes: SHOT.byteLength, width: 40, height: 30 },
      { name: "icons/one.gif", sha256: sha256(GIF), type: "image/gif", bytes: GIF.byteLength, width: 1, height: 1 },
    ]);
    expect(JSON.stringify(messages)).not.toContain(SHOT.toString("base64"));
  },
);

test("a model that cannot see is told so in words, and of images that no model can be shown", async () => {
  await using world = worldAt("http://127.0.0.1:9");
  world.script(
    { match: { user: "Decide" }, ...calls("read_file", { path: "icons/big.png" }) },
    { match: { result: "8001×1 pixels; at most 8000" }, ...calls("read_file", { path: "icons/broken.png" }) },
    { match: { result: "cannot be read as one" }, ...calls("read_file", { path: "icons/one.gif" }) },
    {
      match: { user: "not shown: icons/one.gif (image/gif, 1×1 pixels, 35 bytes); scripted/transcript cannot see" },
      ...calls("record_strategy", { answer: "I cannot see it." }),
    },
  );
  expect(await world.run("look", { actor: "scripted/transcript" })).toMatchObject({ answer: "I cannot see it." });
});

test("images that cannot be shown are refused before anything is written or sent", async () => {
  await using server = await strictServer({ script: looker });
  await using world = worldAt(server.url);
  const at = (name: string, bytes: Uint8Array | string): string => {
    writeFileSync(join(world.directory, name), bytes);
    return join(world.directory, name);
  };
  const refusals: readonly (readonly [string, readonly string[], string])[] = [
    ["openai/gpt-5", [at("large.png", pngOf(10, 10, 3_750_000))], "at most 3750000 can be shown"],
    ["openai/gpt-5", [at("text.png", "no image")], "text.png is not an image that can be shown"],
    ["openai/gpt-5", [join(world.directory, "missing.png")], "cannot be read: ENOENT"],
    ["openai/gpt-5", Array.from({ length: 21 }, () => at("one.gif", GIF)), "21 images are too many: 20 at most"],
    ["vllm/qwen3", [at("shot.png", SHOT)], "vllm/qwen3 is not known to see images"],
  ];
  for (const [actor, images, message] of refusals) {
    const error: unknown = await world.run("look", { actor, images }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(UsageError);
    expect((error as UsageError).message).toContain(message);
  }
  expect((await (await world.agents()).run("plan.list", {})).plans).toEqual([]);
  expect(server.log).toEqual([]);
});

test("the tokens of an image are reserved before it is sent", async () => {
  await using server = await strictServer({ script: looker });
  await using world = worldAt(server.url);
  // Only what is sent costs something: a dollar for a thousand tokens.
  world.settings = { ...world.settings, "provider.openai.prices": "*=1000/0" };
  await world.restart();
  const actor = "openai/gpt-5";
  await world.run("look at it", { actor, budget: "1000" });
  const first = Number(server.log[0]?.usage?.input);
  // Room for what stands around each message and each tool, and for other ways to count.
  const budget = (first / 1_000 + 2.5).toFixed(2);
  const sent = async (images: readonly string[]): Promise<number> => {
    const before = server.log.length;
    await expect(world.run("look at it", { actor, budget, images })).rejects.toThrow(/budget/i);
    return server.log.length - before;
  };
  expect(await sent([])).toBeGreaterThan(0);
  writeFileSync(join(world.directory, "large.png"), pngOf(2_000, 2_000));
  expect(await sent([join(world.directory, "large.png")])).toBe(0);
});

test("a conversation carries no more images than one request can", async () => {
  await using world = worldAt("http://127.0.0.1:9");
  world.settings = { "provider.scripted.images": "*" };
  const reads = Array.from({ length: 21 }, () => ({ tool: "read_file", parameters: { path: "icons/one.gif" } }));
  world.script(
    { match: { user: "Decide" }, tool_calls: reads.slice(0, 15) },
    { match: { user: "From your calls" }, tool_calls: reads.slice(0, 6) },
    { match: { user: "From your calls" }, ...calls("record_strategy", { steps: [FIX] }) },
    step("fix", { text: "NOTHING TO DO: I have seen them." }),
  );
  const { planId } = (await world.run("look", { actor: "scripted/transcript" })) as { planId: string };
  const { messages } = await world.shown(planId, "fix.1");
  expect(messages.flatMap((message) => message.images ?? [])).toHaveLength(6);
  expect(JSON.stringify(messages)).toContain("it was left out when newer ones came");
});
