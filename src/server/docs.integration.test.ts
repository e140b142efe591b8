/** The page about the server can be followed to the letter, and prints what it shows. */
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { Agents } from "../cli/testing/agents.ts";
import { codeBlocks, notPrinted, pageText, typed } from "../cli/testing/typed-page.ts";

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

test("docs/server.md can be followed", async () => {
  using agents = new Agents();
  const page = pageText("server.md").replaceAll("4400", String(await freePort()));
  try {
    const output = await typed(agents, codeBlocks(page, "sh").join("\n"));
    expect(notPrinted(page, output)).toEqual([]);
  } finally {
    const { pid } = (await agents.json("server", "status")).data;
    if (typeof pid === "number") process.kill(pid);
  }
});
