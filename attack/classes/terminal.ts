/** The text of a model must not repaint the screen on which a person says yes, nor hide in a pipe or in JSON. */
import { SpeakingServer } from "../../src/cli/testing/speaking-server.ts";
import { tried, verdict, type AttackClass } from "../verdict.ts";

/** Escape, one-byte controls, cursor moves, titles, clipboard, direction changes, invisible and tag characters. */
const HOSTILE = [
  "\u001b[1A\u001b[2K",
  "\u001b]0;title\u0007",
  "\u001b]52;c;eA==\u0007",
  "\u001b]8;;http://evil\u0007x\u001b]8;;\u0007",
  "\u001bc",
  "\u0008\u0008\u0008",
  "\r",
  "\u007f",
  "\u009b2J",
  "\u0090q\u009c",
  "\u202e",
  "\u2066",
  "\u200b",
  "\u2060",
  "\ufeff",
  "\u{e0041}",
].join("x");

/** All that may stand in an output is a newline, a tab and what is drawn. */
const FORBIDDEN =
  /[[\p{Cc}--[\n\t]][\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\u{e0000}-\u{e007f}]]/v;

export const terminal: AttackClass = async function* (campaign) {
  const { world } = campaign;
  const strategy = {
    steps: [
      {
        id: "s",
        description: `change ${HOSTILE} it`,
        complexity: "low",
        risk: 0.1,
        confidence: 0.9,
        rationale: HOSTILE,
      },
    ],
  };
  const write = { tool: "write_file", parameters: { path: "evil.txt", content: `line ${HOSTILE} end\n` } };
  await using server = new SpeakingServer(({ results }) => {
    if (!results.includes("record_strategy")) return { call: { tool: "record_strategy", parameters: strategy } };
    return results.includes("write_file") ? { text: HOSTILE } : { call: write };
  });
  await world.agents(["config", "set", "provider.house.base-url", await server.listen()]);
  const run = await world.agents(["run", "attack", "--actor", "house/m", "--no-verify"]);
  const planId = /plan (\w{26})/.exec(run.stderr + run.stdout)?.[1] ?? "";
  if (planId === "") yield verdict("a plan to look at", `there is none: ${run.stderr.slice(-300)}`);
  yield shown("run", run.stdout + run.stderr);
  await world.agents(["plan", "execute", planId]);
  const diff = await world.agents(["plan", "diff", planId]);
  yield verdict(
    "the hostile text arrives",
    !diff.stdout.includes("evil.txt") && `it did not: ${diff.stdout.slice(0, 200)}`,
  );
  const looks = [
    ["plan", "diff", planId],
    ["plan", "diff", planId, "--stat"],
    ["plan", "status", planId],
    ["plan", "tree", planId],
    ["plan", "explain", planId, "s"],
    ["plan", "list"],
    ["audit", "list"],
    ["actor", "run", "house/m", "talk"],
    ["context", "pack", "evil"],
    ["plan", "apply", planId, "--yes"],
    ["context", "pack", "evil"],
    ["project", "context", "inspect", "shop", "--query", "evil"],
    ["plan", "undo", planId, "--yes"],
    ["plan", "status", `x${HOSTILE.replaceAll("\u0000", "")}`],
    ["run", `a ${HOSTILE}`, "--actor", `no${HOSTILE}`],
  ];
  for (const [index, words] of looks.entries()) {
    for (const format of tried({ ...campaign, seed: campaign.seed + index }, ["plain", "json", "yaml"], 1)) {
      const { stdout, stderr } = await world.agents([...words, "--format", format]);
      yield shown(`${words.slice(0, 2).join(" ")} as ${format}`, stdout + stderr);
    }
  }
  world.accept();
};

function shown(name: string, output: string) {
  const found = FORBIDDEN.exec(output);
  const around = found === null ? "" : JSON.stringify(output.slice(Math.max(0, found.index - 20), found.index + 20));
  return verdict(name, found !== null && `raw control character in ${around}`, output === "" && "nothing was printed");
}
