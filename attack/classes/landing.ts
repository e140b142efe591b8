/**
 * A plan's changes are applied where links, modes and directories of the user's are in the way: nothing but the plan's
 * files changes.
 */
import { chmodSync, existsSync, lstatSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tried, verdict, type AttackClass, type Verdict } from "../verdict.ts";
import type { AttackWorld, StepSpec } from "../world.ts";

interface Landing {
  readonly name: string;
  readonly steps: readonly StepSpec[];
  /** The obstacle that is put in the way after execute. */
  readonly arrange: (shop: string, world: AttackWorld) => void;
}

export const landing: AttackClass = async function* (campaign) {
  const { world } = campaign;
  for (const one of tried(campaign, LANDINGS, 2)) yield await landed(world, one);
  yield await setuid(world);
};

async function landed(world: AttackWorld, { name, steps, arrange }: Landing): Promise<Verdict> {
  const run = await world.run(steps);
  arrange(world.shop, world);
  const applied = await world.agents(["plan", "apply", run.planId, "--yes"]);
  const outside = world.damage().filter((path) => !path.startsWith(world.shop));
  await world.agents(["plan", "undo", run.planId, "--yes"]);
  rmSync(join(world.shop, "dir"), { recursive: true, force: true });
  world.git(world.shop, "checkout", "--quiet", "--force", "HEAD");
  world.accept();
  return verdict(`apply: ${name}`, applied.hung && "hung", outside.length > 0 && `changed: ${outside.join(", ")}`);
}

const write = (path: string): StepSpec => ({ tool: "write_file", params: { path, content: "of the plan\n" } });

const LANDINGS: readonly Landing[] = [
  {
    name: "a directory became a link to the home",
    steps: [write("dir/.profile")],
    arrange: (shop, { home }) => symlinkSync(home, join(shop, "dir")),
  },
  {
    name: "the file became a link out",
    steps: [write("README")],
    arrange: (shop, { outside }) => {
      rmSync(join(shop, "README"));
      symlinkSync(join(outside, "file"), join(shop, "README"));
    },
  },
  {
    name: "a new file is there as a link out",
    steps: [write("new.txt")],
    arrange: (shop, { outside }) => symlinkSync(join(outside, "file"), join(shop, "new.txt")),
  },
  {
    name: "a repository is in the way",
    steps: [write("dir/x.txt")],
    arrange: (shop, world) => {
      mkdirSync(join(shop, "dir"));
      world.git(join(shop, "dir"), "init", "--quiet");
    },
  },
  {
    name: "a dangling link",
    steps: [write("dir/x.txt")],
    arrange: (shop, { home }) => symlinkSync(join(home, "not-there"), join(shop, "dir")),
  },
];

/** A setuid bit must not stay on a file whose content the plan replaced. */
async function setuid(world: AttackWorld): Promise<Verdict> {
  const file = join(world.shop, "tool.sh");
  writeFileSync(file, "#!/bin/sh\ntrue\n");
  chmodSync(file, 0o4755);
  world.git(world.shop, "add", "tool.sh");
  world.git(world.shop, "commit", "--quiet", "--message=tool");
  const run = await world.run([{ tool: "write_file", params: { path: "tool.sh", content: "#!/bin/sh\nevil\n" } }]);
  const { code, stderr } = await world.agents(["plan", "apply", run.planId, "--yes"]);
  const mode = existsSync(file) ? lstatSync(file).mode & 0o7000 : 0;
  world.accept();
  return verdict("apply: setuid", mode !== 0 && "the bit stayed", code !== 0 && `not applied: ${stderr.slice(-200)}`);
}
