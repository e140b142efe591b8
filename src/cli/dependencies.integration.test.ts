/** Dependencies of the user's checkout in the sandbox of a plan, and files that its commands leave there. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { confinementHere } from "../confinement/availability.ts";
import { World } from "./testing/world.ts";

const MANIFEST = '{ "scripts": { "test": "node test.js" }, "dependencies": { "dep": "1" } }\n';

test.skipIf(!((await confinementHere()).kind !== "none"))(
  "the tests of a project run in the sandbox, and it is said before that they can",
  async () => {
    using world = new World();
    const write = (path: string, content: string): void => {
      mkdirSync(join(world.repository, path, ".."), { recursive: true });
      writeFileSync(join(world.repository, path), content);
    };
    write(".gitignore", "node_modules\n");
    write("package.json", MANIFEST);
    write("test.js", 'require("node:fs").writeFileSync("result.txt", require("dep"));\n');
    world.commit("project");
    write("node_modules/dep/index.js", 'module.exports = "from dep";\n');
    const command = "npm test --silent && mkdir __pycache__ && echo junk > __pycache__/m.pyc && echo junk > run.log";
    const id = await world.plan(`  - { id: test, tool: shell_execute, params: { command: "${command}" } }\n`);
    const { stderr, stdout, code } = await world.agents.run(["plan", "execute", id]);
    expect([code, stderr]).toEqual([0, expect.any(String)]);
    expect(stdout + stderr).toContain("tests: can run (npm test; node_modules comes along, 2 directories)");
    const { data } = await world.agents.json("plan", "execute", id);
    expect(data).toMatchObject({
      changes: { files: 1, insertions: 1 },
      left_out: [
        { resource: "api", path: "__pycache__/" },
        { resource: "api", path: "run.log" },
      ],
    });
    expect(readFileSync(join(world.repository, "node_modules/dep/index.js"), "utf8")).toContain("from dep");
  },
);
