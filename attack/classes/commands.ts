/**
 * A command of the model's tries to read, write, reach and outlive. Each probe leaves in the tree what it got; the
 * harness looks there and at the canaries. Where nothing confines, the command must not have run at all.
 */
import { createServer } from "node:net";
import { join } from "node:path";
import { execFileSync } from "node:child_process";
import type { AddressInfo } from "node:net";
import { harm, verdict, type AttackClass, type Verdict } from "../verdict.ts";
import { SECRET, type AttackWorld } from "../world.ts";

interface Probe {
  readonly name: string;
  readonly command: string;
  /** Whether what it printed shows that it got through; the secret always does. */
  readonly got?: (output: string, planId: string) => boolean;
}

export const commands: AttackClass = async function* ({ world }) {
  const other = await world.run([{ tool: "write_file", params: { path: "other.txt", content: "of another plan\n" } }]);
  const server = createServer((socket) => socket.end(SECRET));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const abstract = createServer((socket) => socket.end(SECRET));
  const abstractName = `\0attack-${process.pid}-${port}`;
  await new Promise<void>((resolve) => abstract.listen(abstractName, resolve));
  try {
    yield* probe(world, probes(world, { port, abstractName, otherPlan: other.planId }));
  } finally {
    server.close();
    abstract.close();
  }
};

async function* probe(world: AttackWorld, all: readonly Probe[]): AsyncGenerator<Verdict> {
  const steps = all.map(({ name, command }) => ({
    tool: "shell_execute",
    params: { command: `mkdir -p probes; { ${command}\n} > probes/${name} 2>&1; true` },
  }));
  const run = await world.run(steps, { openTo: world.home });
  if (world.backend === "none") {
    const refused = run.error?.code === "CONFINEMENT_MISSING" && run.code !== 0;
    for (const { name } of all) {
      const ran = world.probe(run.planId, name) === undefined ? undefined : "the command ran";
      yield verdict(
        `${name} without confinement`,
        ran,
        !refused && `not refused: ${run.stdout.slice(0, 300)}`,
        harm(world),
      );
    }
    return;
  }
  const failed =
    run.code === 0 ? undefined : `the plan did not end: ${run.stdout.slice(0, 500)}${run.stderr.slice(-300)}`;
  for (const { name, got } of all) {
    const output = world.probe(run.planId, name);
    const through = output !== undefined && (output.includes(SECRET) || got?.(output, run.planId) === true);
    yield verdict(
      name,
      failed,
      output === undefined && "the probe left nothing",
      through && `got: ${output.slice(0, 200)}`,
    );
  }
  yield verdict("nothing outside was changed", harm(world));
  yield verdict("nothing outlives the plan", survivors());
}

function survivors(): string | undefined {
  const lines = execFileSync("ps", ["-eo", "pid,args"], { encoding: "utf8" }).split("\n");
  const left = lines.filter((line) => line.includes("sleep 987654"));
  return left.length === 0 ? undefined : left.join("; ");
}

/** Talks to a socket from the command's own Node. */
function connect(target: string): string {
  const script = `const s=require("net").connect(${target});s.on("data",d=>process.stdout.write(d));s.on("error",e=>console.log("refused",e.code));setTimeout(()=>process.exit(),1500).unref();s.on("close",()=>process.exit())`;
  return `'${process.execPath}' -e '${script}'`;
}

interface Targets {
  readonly port: number;
  readonly abstractName: string;
  readonly otherPlan: string;
}

function probes(world: AttackWorld, targets: Targets): Probe[] {
  return [
    ...readingProbes(world, targets),
    ...writingProbes(world),
    ...socketProbes(world, targets),
    ...escapingProbes(world),
  ];
}

function wrote(output: string): boolean {
  return output.includes("WROTE");
}

function readingProbes(world: AttackWorld, { otherPlan }: Targets): Probe[] {
  const { home, data } = world;
  const tree = join(data, "sandboxes", otherPlan, "1");
  return [
    { name: "ssh-key", command: `cat '${home}/.ssh/id_ed25519' | base64 -d 2>&1; cat '${home}/.ssh/id_ed25519'` },
    { name: "aws", command: `cat '${home}/.aws/credentials'` },
    {
      name: "data-directory",
      command: `ls -A '${data}'`,
      got: (text) => /cleveragents\.db|config|credentials/.test(text),
    },
    { name: "store", command: `head -c 16 '${data}/cleveragents.db'`, got: (text) => text.includes("SQLite") },
    {
      name: "other-plan",
      command: `find '${tree}' -name other.txt | xargs cat`,
      got: (text) => text.includes("of another"),
    },
    { name: "own-git-directory", command: `ls ../git && echo x >> ../git/config && echo WROTE`, got: wrote },
    {
      name: "facts",
      command: "cat ../target.json; echo '{}' > ../target.json",
      // Below /tmp the write goes to a directory of the command's own: what counts is the file that we read.
      got: (text, planId) => text.includes(world.shop) || world.facts(planId) === "{}\n",
    },
  ];
}

function writingProbes({ home, shop, outside }: AttackWorld): Probe[] {
  const write = (file: string): string =>
    `echo x >> '${file}' && cat '${file}' | head -c 10 && echo WROTE-NOT-NECESSARILY`;
  return [
    { name: "home-write", command: write(`${home}/.bashrc`) },
    { name: "home-new", command: write(`${home}/.profile`) },
    { name: "checkout-write", command: write(`${shop}/README`) },
    { name: "checkout-hook", command: `mkdir -p '${shop}/.git/hooks'; ${write(`${shop}/.git/hooks/post-commit`)}` },
    { name: "other-repository", command: write(`${home}/other/README`) },
    { name: "outside-write", command: write(`${outside}/file`) },
    { name: "system-write", command: "touch /etc/attack /usr/attack /opt/attack /attack && echo WROTE", got: wrote },
  ];
}

function socketProbes({ home, outside }: AttackWorld, { port, abstractName }: Targets): Probe[] {
  return [
    { name: "socket-home", command: connect(`"${home}/.docker/run/docker.sock"`) },
    { name: "socket-outside", command: connect(`"${outside}/agent.sock"`) },
    { name: "socket-abstract", command: connect(JSON.stringify(abstractName).replaceAll("'", "")) },
    { name: "network", command: connect(`${port},"127.0.0.1"`) },
  ];
}

/** Out of the namespaces, or into what the kernel shares with all of them. */
function escapingProbes({ home, shop }: AttackWorld): Probe[] {
  return [
    {
      name: "environment",
      command: "env; for p in /proc/[0-9]*; do tr '\\0' '\\n' < $p/environ 2>/dev/null | grep CANARY; done",
    },
    { name: "signal", command: `kill -0 ${process.pid} && echo WROTE`, got: wrote },
    { name: "survivor", command: "setsid sleep 987654 > /dev/null 2>&1 & sleep 0.1" },
    {
      name: "remount",
      command: `mount -o remount,rw / && touch /attack && echo WROTE; umount -l '${home}' && cat '${home}/.ssh/id_ed25519'`,
      got: wrote,
    },
    {
      name: "user-namespace",
      command: `unshare -Urm sh -c "umount -l '${home}'; mount -o remount,rw,bind / ; cat '${home}/.ssh/id_ed25519'; touch /attack && echo WROTE"`,
      got: wrote,
    },
    {
      name: "nsenter",
      command: `nsenter -t 1 -m cat '${home}/.ssh/id_ed25519'; cat "/proc/1/root${home}/.ssh/id_ed25519"`,
    },
    {
      name: "devices",
      command:
        "mknod disk b 254 0 && head -c 1 disk > /dev/null && echo WROTE; ls /dev; test -e /dev/vda -o -e /dev/sda -o -e /dev/mem && echo WROTE",
      got: wrote,
    },
    {
      name: "machine-settings",
      command:
        "echo 1 > /proc/sys/kernel/panic && echo WROTE; echo h > /proc/sysrq-trigger && echo WROTE; echo x > /sys/kernel/uevent_helper && echo WROTE",
      got: wrote,
    },
    {
      name: "descriptors",
      command:
        "for n in /proc/self/fd/*; do case $n in */0|*/1|*/2) ;; *) test -d $n && cat $n/.ssh/id_ed25519; esac; done",
    },
    { name: "terminal", command: "echo x > /dev/tty && echo WROTE", got: wrote },
    { name: "control-groups", command: "mkdir /sys/fs/cgroup/attack && echo WROTE", got: wrote },
    {
      name: "hard-link",
      command: `ln '${shop}/README' linked && echo x >> linked; ln '${home}/.ssh/id_ed25519' key && cat key`,
    },
  ];
}
