/** A prompt of an editor may hold files, links and images beside its words. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { FIX, LoopWorld, step, strategy } from "../app/testing/loop-world.ts";
import { pngOf } from "../testing/images.ts";
import { editorOn } from "./testing/editor.ts";

test("the model sees attached files by their path in the repository, and images", async () => {
  await using loop = new LoopWorld();
  loop.settings = { "provider.scripted.images": "*" };
  loop.script(strategy(FIX), step("fix", { text: "NOTHING TO DO: I looked." }));
  await using editor = await editorOn(loop, { profile: "trusted" });
  const sessionId = await editor.open(loop.repository);
  const inside = pathToFileURL(join(loop.repository, "a.txt")).href;
  await editor.agent.request("session/prompt", {
    sessionId,
    prompt: [
      { type: "text", text: "Look at " },
      { type: "resource_link", uri: inside, name: "a.txt" },
      { type: "resource", resource: { uri: "untitled:notes", text: "the second line" } },
      { type: "image", data: Buffer.from(pngOf(8, 8)).toString("base64"), mimeType: "image/png" },
    ],
  });
  const agents = await loop.agents();
  const { plans } = await agents.run("plan.list", {});
  const { messages } = await loop.shown(plans[0]?.planId ?? "", "fix.1");
  expect(JSON.stringify(messages)).toContain("Look at a.txt");
  expect(JSON.stringify(messages)).toContain("untitled:notes:\\n```\\nthe second line");
  expect(messages.flatMap((message) => message.images ?? [])).toHaveLength(1);
});

test("what is not understood is refused before anything is written", async () => {
  await using loop = new LoopWorld();
  await using editor = await editorOn(loop);
  const sessionId = await editor.open(loop.repository);
  const audio = { type: "audio" as const, data: "", mimeType: "audio/wav" };
  await expect(editor.agent.request("session/prompt", { sessionId, prompt: [audio] })).rejects.toThrow("Audio is not");
  expect((await (await loop.agents()).run("plan.list", {})).plans).toEqual([]);
});
