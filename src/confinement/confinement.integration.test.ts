/**
 * Real commands under each backend that works here, as the user who runs the tests and, where that is root, as an
 * ordinary user.
 */
import { once } from "node:events";
import { chmodSync, existsSync, readFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { gone, running, uniqueSeconds } from "../testing/processes.ts";
import { OnlyBackend, workingBackends } from "./testing/backends.ts";
import { ConfinedWorld, USERS } from "./testing/confined-world.ts";
import { ExecutingPlan } from "../execution/testing/executing-plan.ts";

const backends = await workingBackends();
const worlds = backends.flatMap((backend) => USERS.map((as) => [backend, as] as const));

describe.skipIf(worlds.length === 0).each(worlds)("a command confined by %s, run as %s", (backend, as) => {
  test("reads nothing of the user's, of ours or of another plan's, and writes nothing but its own", async () => {
    using world = await ConfinedWorld.make(backend, as);
    const secrets = world.secrets();
    expect(secrets.length).toBeGreaterThan(10);
    const before = world.fingerprint();
    const places = [
      ...secrets,
      ...["outside/x", "x", "checkout/.git/objects/x"].map((path) => join(world.directory, path)),
    ];
    const system = ["/etc/x", "/usr/x", "/x", "/proc/sys/kernel/hostname", "/sys/x", "/dev/x", "/opt/x"];
    const answer = await world.run({
      readable: [join(world.checkout, ".git/objects"), world.checkout],
      commands: {
        reads: [...secrets, "/etc/shadow", "/proc/1/environ"].map((path) => `cat '${path}'`).join("; "),
        around: `ls -A '${world.directory}' '${world.home}' '${world.data}' '${world.sandbox}' '${join(world.checkout, ".data")}'`,
        writes: [...places, ...system].map((path) => `(echo evil > '${path}') && echo 'WROTE ${path}'`).join("; "),
        own: `echo fine > ok.txt && echo fine > $HOME/ok && echo fine > /tmp/ok && cat a.txt && '${join(world.home, ".cargo/bin/tool")}'`,
        environment: "env",
      },
    });
    expect(answer["reads"]).toMatchObject({ confined: true, output: expect.not.stringContaining("root:") });
    // The checkout was shown to it as a whole, and so its `.env`; but not our data directory inside of it.
    expect(answer["reads"]?.output.match(/canary-5d1f/g)).toHaveLength(1);
    const seen = answer["around"]?.output ?? "";
    for (const name of [
      ".ssh",
      ".aws",
      ".config",
      "config.yaml",
      "cleveragents.db",
      "other",
      "web",
      "git",
      "target.json",
    ]) {
      expect(seen.split(/\s/)).not.toContain(name);
    }
    // Below /tmp, where this test lies, it can write, but into its own.
    expect(answer["writes"]?.output).not.toMatch(/WROTE (?!\/tmp)/);
    expect(world.fingerprint()).toEqual(before);
    expect(answer["own"]).toMatchObject({ code: 0, output: "one\ntool\n" });
    expect(readFileSync(join(world.root, "ok.txt"), "utf8")).toBe("fine\n");
    expect(existsSync("/tmp/ok")).toBe(false);
    expect(answer["environment"]?.output).not.toContain("canary");
  });

  test("reaches no socket of another program, by path or by name, and no network; its own loopback works", async () => {
    using world = await ConfinedWorld.make(backend, as);
    const heard: string[] = [];
    const path = join(world.checkout, "agent.sock");
    const name = `\0cleveragents-${process.pid}-${backend}-${as}`;
    const servers = [await listening(heard, { path }), await listening(heard, { path: name })];
    const network = await listening(heard, { port: 0, host: "127.0.0.1" });
    chmodSync(path, 0o777);
    const { port } = network.address() as { port: number };
    const connect = (to: object): string =>
      `node -e 'require("net").connect(${JSON.stringify(to)}).on("connect",()=>console.log("CONNECTED")).on("error",(e)=>console.log(e.code))'`;
    const server = `const h=require("http");h.createServer((q,r)=>r.end("hello")).listen(0,"127.0.0.1",function(){h.get(this.address(),(r)=>r.on("data",(d)=>{console.log(String(d));process.exit()}))})`;
    const fork = `const c=require("child_process");if(process.argv[2]){process.send("spoke");process.disconnect()}else c.fork(__filename,["x"]).on("message",(m)=>console.log(m))`;
    try {
      const answer = await world.run({
        readable: [world.checkout],
        commands: {
          path: connect({ path }),
          name: connect({ path: name }),
          network: connect({ port, host: "127.0.0.1" }),
          loopback: `node -e '${server}'`,
          fork: `cat > f.js <<'X'\n${fork}\nX\nnode f.js`,
          devices: "grep -c : /proc/net/dev",
        },
      });
      expect(answer["path"]?.output).toBe("EPERM\n");
      expect(answer["name"]?.output).toBe("EPERM\n");
      expect(answer["network"]?.output).toBe("ECONNREFUSED\n");
      expect(answer["loopback"]?.output).toBe("hello\n");
      expect(answer["fork"]?.output).toBe("spoke\n");
      expect(answer["devices"]?.output).toBe("1\n");
      const allowed = await world.run({
        unixSockets: true,
        commands: { hidden: connect({ path }), name: connect({ path: name }) },
      });
      expect(allowed["hidden"]?.output).toBe("ENOENT\n");
      expect(allowed["name"]?.output).toBe("ECONNREFUSED\n");
      expect(heard).toEqual([]);
    } finally {
      for (const one of [...servers, network]) one.close();
    }
  });

  test("cannot undo its confinement, nor reach into the process that everything ends with", async () => {
    using world = await ConfinedWorld.make(backend, as);
    const escapes = [
      "mount -o remount,rw /",
      "mount -o remount,bind,rw /usr",
      "mount -t tmpfs tmpfs /tmp",
      `umount '${world.root}'`,
      "mknod device b 254 0",
      "chroot / true",
      "nsenter -t 1 -m true",
      "unshare -U true",
      "unshare -m true",
      "cat /proc/1/mem",
      "ls /proc/1/root/",
      "cat /proc/1/environ",
      "readlink /proc/1/exe",
      "echo x > /proc/sys/kernel/core_pattern",
      "echo b > /proc/sysrq-trigger",
      "dmesg",
      `test -e /proc/${process.pid}`,
    ];
    const command = escapes.map((escape) => `if ( ${escape} ) >/dev/null; then echo 'DONE ${escape}'; fi`).join("\n");
    const answer = await world.run({
      commands: {
        escapes: `{ ${command}\n} 2>/dev/null`,
        status: "grep -E 'Cap(Inh|Prm|Eff|Amb)|NoNewPrivs|Seccomp:' /proc/self/status",
      },
    });
    expect(answer["escapes"]?.output).toBe("");
    const none = "0".repeat(16);
    const sets = ["Inh", "Prm", "Eff", "Amb"].map((set) => `Cap${set}:\t${none}`).join("\n");
    expect(answer["status"]?.output).toBe(`${sets}\nNoNewPrivs:\t1\nSeccomp:\t2\n`);
  });

  test("has no descriptor of ours or of the one who started us", async () => {
    using world = await ConfinedWorld.make(backend, as);
    const script = `exec 40<'${world.directory}' 9</dev/null; exec "$@"`;
    const bash = ["bash", "-c", script, "bash"];
    const answer = await world.run({ commands: { open: "ls /proc/self/fd" } }, bash);
    // The last one is that of `ls` itself.
    expect(answer["open"]?.output).toBe("0\n1\n2\n3\n");
  });

  test("ends with all it started, also with processes that try to get away", async () => {
    using world = await ConfinedWorld.make(backend, as);
    const seconds = uniqueSeconds();
    const background = `setsid sleep ${seconds} >/dev/null 2>&1 & sleep ${seconds} >/dev/null 2>&1 &`;
    const answer = await world.run({
      commands: {
        left: `${background} echo left`,
        killed: `${background} kill -KILL 0`,
        first: `${background} kill -KILL 1; kill -STOP 1; exit 7`,
      },
    });
    expect(answer["left"]).toMatchObject({ code: 0, output: "left\n" });
    expect(answer["killed"]?.code).toBe(137);
    expect(answer["first"]?.code).toBe(7);
    expect(await gone(seconds)).toBe(true);
  });

  test("ends with all it started when the process that runs it is killed", async () => {
    using world = await ConfinedWorld.make(backend, as);
    const seconds = uniqueSeconds();
    const child = world.start({ commands: { long: `setsid sleep ${seconds} & sleep ${seconds}` } });
    while (running(`sleep\0${seconds}`) < 2) await sleep(10);
    child.kill("SIGKILL");
    expect(await gone(seconds)).toBe(true);
  });

  test("has its limits", async () => {
    using world = await ConfinedWorld.make(backend, as);
    const answer = await world.run({
      commands: {
        core: "ulimit -c",
        file: "truncate -s 5G big; echo $?",
        scratch: "df -P -k /tmp /dev/shm | awk 'NR > 1 { if ($2 <= 1048576) print \"small\" }'",
        output: "yes | head -c 3000000",
      },
    });
    expect(answer["core"]?.output).toBe("0\n");
    expect(answer["file"]?.output).not.toMatch(/\b0\n$/);
    expect(answer["scratch"]?.output).toBe("small\nsmall\n");
    // The beginning and the end are kept, with a note between them.
    const [head, leftOut, tail] = (answer["output"]?.output ?? "").split(/\n… (\d+) characters left out …\n/);
    expect(`${head}${tail}`).toHaveLength(256 * 1024);
    expect(Number(leftOut)).toBe(3_000_000 - 256 * 1024);
  });
});

test.skipIf(backends.length === 0).each(backends)("git works in a sandbox confined by %s", async (backend) => {
  using _only = new OnlyBackend(backend).here();
  await using plan = await ExecutingPlan.start();
  const { call } = await plan.open();
  const command =
    "git log --oneline | wc -l; git status --short; git show HEAD:a.txt | head -1; git stash list; git gc --quiet";
  expect(await call("shell_execute", { command })).toMatchObject({ code: 0, confined: true, output: "1\none\n" });
});

async function listening(heard: string[], where: object): Promise<Server> {
  const server = createServer((socket) => {
    heard.push(JSON.stringify(where));
    socket.end();
  });
  await once(server.listen(where), "listening");
  return server;
}
