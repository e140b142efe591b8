/** The list of sessions on terminals of two widths. */
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import { CandidatesWorld } from "../app/testing/candidates-world.ts";
import { makeRepository } from "../testing/git-repository.ts";
import { runCli } from "./run-cli.ts";
import { capturedIo } from "./testing/captured-io.ts";

/** The lines that a person sees in the repository. */
async function listed(world: CandidatesWorld, columns: number, ...words: string[]): Promise<string[]> {
  const env = { ...process.env, CLEVERAGENTS_DATA_DIR: world.dataDir };
  const io = capturedIo({ env, cwd: world.repository });
  const code = await runCli(["session", "list", ...words], {
    ...io,
    stdout: { ...io.stdout, isTTY: true, columns },
  });
  expect(code).toBe(0);
  return stripVTControlCharacters(io.written.stdout).trimEnd().split("\n");
}

test("several sessions fit into 60 and 120 columns; those of the repository come first", async () => {
  await using world = new CandidatesWorld();
  const actor = world.model("bad", [{ error: "refused", times: "always" }]);
  const other = makeRepository(join(world.directory, "warehouse"));
  const agents = await world.agents();
  const long = "write a note about each of the many birds that were seen at the lake in the last summer";
  for (const [request, directory] of [
    [long, world.repository],
    ["count the birds", world.repository],
    ["sweep the floor", other],
  ] as const) {
    await expect(agents.run("run", { request, directory, actor })).rejects.toThrow("refused");
  }
  for (const columns of [60, 120]) {
    const lines = await listed(world, columns);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(columns);
    const text = lines.join("\n");
    const places = ["count", "write", "sweep"].map((words) => text.indexOf(words));
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(places).not.toContain(-1);
    expect(text).toContain("stopped");
  }
  const wide = (await listed(world, 120)).join("\n");
  expect(wide).toContain("here");
  expect(wide).toContain("local/warehouse");
  const one = (await listed(world, 120, "--here", "--limit", "1")).join("\n");
  expect(one).not.toContain("Project");
  expect(one).toContain("count the birds");
  expect(one).not.toContain("write a note");
});
