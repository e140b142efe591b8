/** Confinement by the real bubblewrap, where it works here; elsewhere these tests are skipped, visibly. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { gone, running, uniqueSeconds } from "../../testing/processes.ts";
import { canConfine, confined } from "../bubblewrap.ts";
import { ExecutingPlan } from "../testing/executing-plan.ts";

const works = await canConfine();

describe.skipIf(!works)("a confined command", () => {
  test("writes into its sandbox and nowhere else", async () => {
    await using plan = await ExecutingPlan.start();
    const { call, entries } = await plan.open();
    const beside = join(plan.root, "..");
    const before = [await plan.user.fingerprint(), await readFile(join(beside, "target.json"))];
    // Those in a directory that is hidden can be written, but into a hidden one that is gone afterwards.
    const hidden = [
      join(plan.user.path, "x"),
      join(plan.user.path, ".git/x"),
      join(beside, "x"),
      join(beside, "target.json"),
      join(plan.directory, "x"),
      "/run/cleveragents-x",
      "/tmp/cleveragents-x",
    ];
    const shown = [join(plan.user.path, ".git/objects/x"), "/etc/x", "/x", "/sys/x", "/proc/sys/kernel/hostname"];
    const attempts = (places: string[]): string =>
      places.map((place) => `(echo evil > '${place}') && echo 'WROTE ${place}'`).join("; ");
    const result = await call("shell_execute", {
      command: `{ ${attempts(shown)}; } 2>/dev/null; { ${attempts(hidden)}; } >/dev/null 2>&1; echo fine > ok.txt; echo fine > $HOME/ok`,
    });
    expect(result).toMatchObject({ confined: true, output: "" });
    expect(await entries()).toMatchObject([{ path: "ok.txt", operation: "create" }]);
    expect([await plan.user.fingerprint(), await readFile(join(beside, "target.json"))]).toEqual(before);
    for (const place of [...shown, ...hidden].filter((path) => path.endsWith("x")))
      expect(existsSync(place)).toBe(false);
  });

  test("cannot undo its confinement, not even as root", async () => {
    await using plan = await ExecutingPlan.start();
    const { call } = await plan.open();
    const escapes = [
      "mount -o remount,rw /",
      "mount -o remount,bind,rw /",
      `umount '${plan.root}'`,
      "mknod device b 254 0",
      "chroot / true",
      "nsenter -t 1 -m true",
    ];
    const command = escapes.map((escape) => `if ${escape}; then echo "DONE ${escape}"; fi`).join("; ");
    const { output } = (await call("shell_execute", {
      command: `{ ${command}; } 2>/dev/null; grep CapEff /proc/self/status`,
    })) as {
      output: string;
    };
    expect(output).toBe("CapEff:\t0000000000000000\n");
  });

  test("has no network, and does not reach the sockets of other programs", async () => {
    await using plan = await ExecutingPlan.start();
    const { call } = await plan.open();
    const heard: string[] = [];
    const server = createServer((socket) => {
      heard.push("called");
      socket.end();
    });
    const socket = join("/tmp", `cleveragents-${uniqueSeconds()}.sock`);
    const other = createServer(() => heard.push("called by socket"));
    try {
      await once(server.listen(0, "127.0.0.1"), "listening");
      await once(other.listen(socket), "listening");
      const { port } = server.address() as { port: number };
      const { output } = (await call("shell_execute", {
        command: `bash -c 'echo x > /dev/tcp/127.0.0.1/${port}' 2>/dev/null && echo CONNECTED; test -e '${socket}' && echo SEEN; cat /proc/net/dev | grep -c :`,
      })) as { output: string };
      // Its own loopback device is all there is.
      expect(output).toBe("1\n");
      expect(heard).toEqual([]);
    } finally {
      server.close();
      other.close();
      await rm(socket, { force: true });
    }
  });

  test("sees neither the processes of others, nor what is hidden, but can use git on its sandbox", async () => {
    await using plan = await ExecutingPlan.start();
    const { call } = await plan.open();
    const { output } = (await call("shell_execute", {
      command: `test -e /proc/${process.pid}/cmdline && echo SEEN; ls /run; git log --oneline | wc -l; git status --short; git show HEAD:a.txt | head -1`,
    })) as { output: string };
    expect(output).not.toContain("SEEN");
    expect(output.trimEnd().split("\n").slice(-2)).toEqual(["1", "one"]);
  });

  test("dies with whoever started it, with all it started", async () => {
    const seconds = uniqueSeconds();
    const [program = "", ...args] = confined(["sh", "-c", `setsid sleep ${seconds} & sleep ${seconds}`], {
      readable: [],
      writable: [],
      cwd: "/",
      network: false,
    });
    const starter = `require("node:child_process").spawn(${JSON.stringify(program)}, ${JSON.stringify(args)}, { detached: true, stdio: "ignore" }); setInterval(() => {}, 1000)`;
    const child = spawn(process.execPath, ["-e", starter], { stdio: "ignore" });
    const both = (): boolean => running(`sleep\0${seconds}`) === 2;
    for (let attempt = 0; attempt < 500 && !both(); attempt += 1) await sleep(10);
    expect(both()).toBe(true);
    child.kill("SIGKILL");
    expect(await gone(seconds)).toBe(true);
  });
});
