/**
 * `npm run transcript`: the session that the README shows, run again. Everything is done by the real commands in a new directory; only what
 * differs from one run to the next, ids, hashes and times, stands under a name of its own. A test compares it with the README.
 */
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { DemoWorld } from "./demo-world.ts";

const EXAMPLES = join(import.meta.dirname, "..", "examples");
const REQUEST = "make the health endpoint answer 200 when the database is down";

await using world = await DemoWorld.make();

await cp(join(EXAMPLES, "health"), join(world.directory, "shop"), { recursive: true });
await cp(join(EXAMPLES, "health.yaml"), join(world.directory, "health.yaml"));
await world.git("init", "--quiet", "--initial-branch=main");
await world.git("config", "user.name", "Ann");
await world.git("config", "user.email", "ann@example.org");
await world.git("add", "--all");
await world.git("commit", "--quiet", "--message=Start");
const script = join(world.directory, "health.yaml");
await agents("config", "set", "provider.scripted.transcript", script);
await agents("config", "set", "provider.scripted.prices", "*=3/15");

const ran = await shown("run", REQUEST, "--budget", "0.50", "--yes");
const [, plan = ""] = /^plan (\w+) of/m.exec(ran) ?? [];
await shown("plan", "undo", plan, "--yes");

/** Prints a command with all it says; quoted where a shell needs it. */
async function shown(...args: readonly string[]): Promise<string> {
  const said = await agents(...args);
  const words = args.map((word) => (/[^\w./-]/.test(word) ? `"${word}"` : word));
  process.stdout.write(`$ agents ${stable(words.join(" "))}\n${stable(said)}`);
  return said;
}

async function agents(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await world.agents(args, undefined, "shop");
  if (code !== 0) throw new Error(`agents ${args.join(" ")} failed: ${stderr}`);
  return stderr + stdout;
}

function stable(text: string): string {
  return (
    text
      .replaceAll(world.directory, "~")
      .replaceAll(/\b01[0-9A-HJKMNP-TV-Z]{24}\b/g, "01PLAN")
      .replaceAll(/\((\d+ min )?\d+(\.\d)? (ms|s)\)/g, "(…)")
      // What was decided is part of the context, ids and all.
      .replaceAll(/^(context .*) [\d,]+ tokens$/gm, "$1 … tokens")
      .replaceAll(/\b[0-9a-f]{10}\b/g, "c0ffee0000")
      .replaceAll(/^(Commands are confined) by .*?:/gm, "$1 by bubblewrap:")
  );
}
