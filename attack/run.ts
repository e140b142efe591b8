/**
 * `npm run attack`: everything that was ever tried against the sandbox, the screen, the bill and the files, counted by
 * class, with each backend that works here. `--quick` tries a few of each kind; `--backend NAME` and `--class NAME`
 * narrow it; `--seed N` repeats.
 */
import { spawnSync } from "node:child_process";
import { chownSync, existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { commands } from "./classes/commands.ts";
import { endpoints } from "./classes/endpoints.ts";
import { files } from "./classes/files.ts";
import { git } from "./classes/git.ts";
import { landing } from "./classes/landing.ts";
import { random } from "./classes/random.ts";
import { terminal } from "./classes/terminal.ts";
import { tools } from "./classes/tools.ts";
import type { AttackClass, Verdict } from "./verdict.ts";
import { AttackWorld, BACKENDS, ROOT, type Backend } from "./world.ts";

const CLASSES: Readonly<Record<string, AttackClass>> = {
  commands,
  git,
  tools,
  landing,
  files,
  terminal,
  endpoints,
  random,
};
/** An attack that does not depend on how commands are confined is tried once. */
const ONCE = new Set(["terminal", "endpoints", "files", "landing"]);
const ORDINARY_USER = 65_534;

const { values } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    backend: { type: "string" },
    class: { type: "string" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    user: { type: "boolean", default: false },
  },
});

interface Count {
  tried: number;
  held: number;
}

async function main(): Promise<number> {
  const seed = Number(values.seed);
  const user = process.getuid?.() === 0 ? "root" : "an ordinary user";
  console.log(`attacks as ${user}, ${values.quick ? "a few of each kind" : "all"}, seed ${seed}`);
  const through: string[] = [];
  const rows: string[] = [];
  let tried = new Set<string>();
  for (const backend of BACKENDS.filter((name) => values.backend === undefined || values.backend === name)) {
    const missing = await unavailable(backend);
    if (missing !== undefined) {
      console.log(`  ${backend}: not attacked here, ${missing}`);
      continue;
    }
    for (const [name, attack] of Object.entries(CLASSES)) {
      if (values.class !== undefined && values.class !== name) continue;
      if (ONCE.has(name) && tried.has(name)) continue;
      tried = tried.add(name);
      const count = await campaign(backend, attack, seed, (verdict) => {
        if (verdict.through !== undefined) through.push(`${backend}, ${name}: ${verdict.attack}: ${verdict.through}`);
      });
      if (count.tried === 0) continue;
      rows.push(
        `  ${backend.padEnd(12)} ${name.padEnd(10)} ${String(count.tried).padStart(4)} tried ${String(count.held).padStart(4)} held`,
      );
      console.log(rows.at(-1));
    }
  }
  for (const line of through) console.error(`THROUGH ${line.replaceAll(/\s+/g, " ").slice(0, 300)}`);
  const unprivileged = values.user ? asOrdinaryUser(seed) : 0;
  console.log(`${rows.length} classes, ${through.length} attacks got through`);
  return through.length === 0 && rows.length > 0 && unprivileged === 0 ? 0 : 1;
}

async function campaign(
  backend: Backend,
  attack: AttackClass,
  seed: number,
  tell: (verdict: Verdict) => void,
): Promise<Count> {
  const count: Count = { tried: 0, held: 0 };
  await using world = await AttackWorld.make(backend);
  for await (const verdict of attack({ world, quick: values.quick, seed })) {
    count.tried += 1;
    if (verdict.through === undefined) count.held += 1;
    tell(verdict);
  }
  return count;
}

/** Asks the product which backend it found with that PATH. */
async function unavailable(backend: Backend): Promise<string | undefined> {
  await using world = await AttackWorld.make(backend);
  const { stdout } = await world.agents(["diagnostics", "--format", "json"]);
  const found = /"confinement":\s*"(\w+)"/.exec(stdout)?.[1];
  return found === backend ? undefined : `diagnostics says ${found ?? "nothing of it"}`;
}

/** The same again without privileges, where the checkout lets another user in. */
function asOrdinaryUser(seed: number): number {
  if (process.getuid?.() !== 0) return 0;
  const readable =
    spawnSync("test", ["-r", join(ROOT, "bin/agents")], { uid: ORDINARY_USER, gid: ORDINARY_USER }).status === 0;
  if (!readable) {
    console.log("as an ordinary user: not attacked, the checkout cannot be read by others");
    return 0;
  }
  mkdirSync(join(ROOT, ".attack"), { recursive: true });
  const place = mkdtempSync(join(ROOT, ".attack", "u-"));
  chownSync(place, ORDINARY_USER, ORDINARY_USER);
  try {
    const { quick, backend, class: name } = values;
    const words = [
      `--seed=${seed}`,
      ...(quick ? ["--quick"] : []),
      ...(backend === undefined ? [] : [`--backend=${backend}`]),
      ...(name === undefined ? [] : [`--class=${name}`]),
    ];
    const { status } = spawnSync(process.execPath, [join(ROOT, "attack/run.ts"), ...words], {
      uid: ORDINARY_USER,
      gid: ORDINARY_USER,
      stdio: ["ignore", "inherit", "inherit"],
      env: { ...process.env, HOME: place, CLEVERAGENTS_ATTACK_DIR: place },
    });
    return status ?? 1;
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

if (!existsSync(join(ROOT, "dist", "cli.cjs"))) throw new Error("npm run build comes first");
process.exitCode = await main();
