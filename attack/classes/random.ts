/**
 * Random sequences: a command writes anything below the sandbox (each file of `.git`, links, FIFOs, nested
 * repositories, submodules, attributes, filters, huge and sparse files), then any of our commands runs. No program of
 * the attack's runs outside of the confinement, nothing outside of sandbox and data directory changes, and every
 * command ends within its limit.
 */
import { seededRandom } from "../../src/testing/random.ts";
import { harm, verdict, type AttackClass } from "../verdict.ts";
import type { AttackWorld } from "../world.ts";

export const random: AttackClass = async function* ({ world, quick, seed }) {
  if (world.backend === "none") return;
  const rounds = quick ? 1 : 40;
  for (let round = 0; round < rounds; round += 1) {
    const draw = generator(seed + round);
    const writes = Array.from({ length: 3 + draw(6) }, () => pick(draw, WRITES)(draw, world)).join("\n");
    const steps = [
      { tool: "shell_execute", params: { command: `{ ${writes}\n} > /dev/null 2>&1; true`, timeout_ms: OWN_LIMIT_MS } },
      ...Array.from({ length: 1 + draw(3) }, () => ({ tool: pick(draw, LOOKS), params: {} })),
      { tool: "shell_execute", params: { command: "echo more >> README; true" } },
    ];
    const run = await world.run(steps);
    const late = [run.hung && "execute hung"];
    for (const verb of Array.from({ length: 3 }, () => pick(draw, VERBS))) {
      const { hung } = await world.agents(["plan", ...verb(run.planId)]);
      if (hung) late.push(`${verb("ID").join(" ")} hung`);
    }
    const { hung } = await world.agents(["plan", "cancel", run.planId, "--yes"]);
    yield verdict(`sequence ${seed + round}`, ...late, hung && "cancel hung", harm(world));
    world.accept();
  }
};

/** A command may wait for a pipe that it made itself; then its own limit ends it. */
const OWN_LIMIT_MS = 15_000;

const LOOKS = ["git_status", "git_diff", "git_log"] as const;
const VERBS = [
  (id: string) => ["diff", id],
  (id: string) => ["status", id],
  (id: string) => ["tree", id],
  (id: string) => ["execute", id],
  (id: string) => ["resume", id],
] as const;

type Draw = (below: number) => number;
type Write = (draw: Draw, world: AttackWorld) => string;

const GIT_FILES = [
  "HEAD",
  "config",
  "index",
  "packed-refs",
  "commondir",
  "gitdir",
  "config.worktree",
  "shallow",
  "info/attributes",
  "info/exclude",
  "info/grafts",
  "objects/info/alternates",
  "logs/HEAD",
  "refs/heads/main",
  "hooks/post-checkout",
  "hooks/post-index-change",
  "modules/x/config",
  "MERGE_HEAD",
  "index.lock",
];
const TREE_FILES = [
  ".gitignore",
  ".gitattributes",
  ".gitmodules",
  ".mailmap",
  "src/a.js",
  "README",
  "src/.gitignore",
  "sub/.git/config",
  "x/HEAD",
  "x/config",
];

const anyFile = (draw: Draw): string => (draw(2) === 0 ? `.git/${pick(draw, GIT_FILES)}` : pick(draw, TREE_FILES));
const fresh = (file: string): string => `rm -rf ${file}; mkdir -p "$(dirname ${file})"`;

const WRITES: readonly Write[] = [
  (draw, world) => {
    const file = anyFile(draw);
    const text = pick(draw, [
      "evil",
      "* filter=x diff=x",
      `${world.home}/other/.git`,
      "ref: refs/heads/none",
      "gitdir: ../x",
      "[core]\\n\\tfsmonitor = ./evil.sh\\n\\tworktree = /",
    ]);
    return `${fresh(file)}; printf '${text}\\n' > ${file}`;
  },
  (draw, world) => {
    const file = anyFile(draw);
    return `${fresh(file)}; ln -s '${pick(draw, [world.home, `${world.home}/.bashrc`, `${world.outside}/file`, "/", "loop"])}' ${file}`;
  },
  (draw) => {
    const file = anyFile(draw);
    return `${fresh(file)}; mkfifo ${file}`;
  },
  (draw) => {
    const file = anyFile(draw);
    return `${fresh(file)}; mkdir -p ${file}`;
  },
  (draw, world) =>
    `printf '%s\\n' '#!/bin/sh' ${JSON.stringify(world.mark("random"))} cat > evil.sh; chmod +x evil.sh; git config ${pick(draw, ["filter.x.clean", "filter.x.smudge", "core.fsmonitor", "diff.external", "core.hooksPath", "diff.x.textconv", "core.pager"])} "$PWD/evil.sh"`,
  () =>
    "git init -q sub; (cd sub; echo 1 > f; git add f; git -c user.name=x -c user.email=x@x commit -qm x); git add sub",
  () => "git add -A; git -c user.name=x -c user.email=x@x commit -qm mine",
  (draw) => `truncate -s ${pick(draw, ["1G", "200M", "1T", "5M"])} huge`,
  () => "rm -rf .git",
  () => "rm -rf src README .gitignore",
  () => "mknod null c 1 3",
  () => "chmod 000 src; chmod u+s README",
  () => "ln README hard; mv README moved; cp -r src copied",
  (draw) => `for i in $(seq ${1 + draw(300)}); do echo $i > many-$i; done`,
];

function pick<T>(draw: Draw, from: readonly T[]): T {
  return from[draw(from.length)] as T;
}

/** Whole numbers below a bound, the same for the same seed. */
function generator(seed: number): Draw {
  const next = seededRandom(seed);
  return (below) => Math.floor(next() * below);
}
