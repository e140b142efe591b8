/**
 * A command leaves a hostile repository, file or link for our own git to find; then everything of ours that looks at
 * the tree is run. No program of the attack's may run outside of the confinement, nothing outside may change, and
 * nothing may hang.
 */
import { join } from "node:path";
import { harm, tried, verdict, type AttackClass } from "../verdict.ts";
import type { AttackWorld } from "../world.ts";

interface GitAttack {
  readonly name: string;
  readonly command: string;
}

export const git: AttackClass = async function* (campaign) {
  const { world } = campaign;
  if (world.backend === "none") return;
  for (const attack of tried(campaign, attacks(world), 3)) {
    const looked = [
      { tool: "git_status", params: {} },
      { tool: "git_diff", params: {} },
      { tool: "git_log", params: {} },
    ];
    const run = await world.run([
      { tool: "shell_execute", params: { command: `echo changed >> src/a.js\n${attack.command}\ntrue` } },
      ...looked,
      { tool: "shell_execute", params: { command: "echo again >> src/a.js" } },
    ]);
    const hung = [run.hung && "execute hung"];
    for (const words of [["status"], ["diff"], ["diff", "--stat"], ["tree"], ["apply", "--yes"], ["undo", "--yes"]]) {
      const [verb = "", ...flags] = words;
      if (verb === "apply") {
        const before = harm(world);
        if (before !== undefined) hung.push(before);
      }
      const { hung: late } = await world.agents(["plan", verb, run.planId, ...flags]);
      if (late) hung.push(`${verb} hung`);
    }
    const pwned = world.damage().filter((path) => !path.startsWith(world.shop));
    const unexpected = /unexpected/i.exec(run.stdout + run.stderr) === null ? undefined : run.stderr.slice(-300);
    yield verdict(attack.name, ...hung, pwned.length > 0 && `changed: ${pwned.join(", ")}`, unexpected);
    world.accept();
  }
};

/** A program that shows itself, as a file of the repository. */
function program(world: AttackWorld, name: string, at = ".git/evil.sh"): string {
  return `mkdir -p "$(dirname ${at})"; printf '%s\\n' '#!/bin/sh' ${JSON.stringify(world.mark(name))} cat > ${at}; chmod +x ${at}; EVIL="$PWD/${at}"`;
}

function setting(world: AttackWorld, name: string, key: string): GitAttack {
  return {
    name: `setting ${key}`,
    command: `${program(world, name)}; git config ${key} "$EVIL"; echo '* filter=x diff=x merge=x' > .gitattributes; echo '* filter=x diff=x' > .git/info/attributes`,
  };
}

function attacks(world: AttackWorld): GitAttack[] {
  const all = [
    ...nestedRepositories(world),
    ...replacedParts(world),
    ...misleadingParts(world),
    ...programSettings(world),
    ...unusualFiles(world),
  ];
  return all.map((attack) => ({
    ...attack,
    command: attack.command.replaceAll("$HOME", join(world.home)),
  }));
}

function nestedRepositories(world: AttackWorld): GitAttack[] {
  return [
    {
      name: "commondir",
      command: `${program(world, "commondir", ".git/evil/run.sh")}; for f in HEAD config objects refs info; do cp -r .git/$f .git/evil/; done
        git config -f .git/evil/config filter.x.clean "$EVIL"; git config -f .git/evil/config filter.x.smudge "$EVIL"
        mkdir -p .git/evil/info; echo '* filter=x' > .git/evil/info/attributes; echo evil > .git/commondir`,
    },
    {
      name: "nested repository with a filter",
      command: `git init -q sub; cd sub; git config user.email x@x; git config user.name x; echo 1 > f; git add f; git commit -qm x
        ${program(world, "nested")}; git config filter.x.clean "$EVIL"; echo '* filter=x' > .git/info/attributes; echo 2 > f; cd ..; git add sub
        printf '[submodule "sub"]\\n\\tpath = sub\\n\\turl = ./sub\\n\\tignore = none\\n' > .gitmodules`,
    },
    {
      name: "nested repository with fsmonitor",
      command: `git init -q sub; cd sub; ${program(world, "nested-monitor")}; git config core.fsmonitor "$EVIL"; cd ..; git add sub; true`,
    },
  ];
}

/** Parts of the repository are links to somewhere else, or are missing. */
function replacedParts({ home, outside }: AttackWorld): GitAttack[] {
  return [
    { name: "index is a link", command: `rm -f .git/index; ln -s '${home}/.bash_profile' .git/index` },
    {
      name: "log is a link",
      command: `mkdir -p .git/logs; rm -f .git/logs/HEAD; ln -s '${outside}/file' .git/logs/HEAD; git rev-parse HEAD > .git/ORIG_HEAD`,
    },
    { name: "HEAD is a link", command: `rm -f .git/HEAD; ln -s '${outside}/file' .git/HEAD` },
    { name: "config is a link", command: `rm -f .git/config; ln -s '${outside}/file' .git/config` },
    { name: ".git is a link", command: `rm -rf .git; ln -s '${home}/other/.git' .git` },
    { name: ".git is a file", command: `rm -rf .git; echo 'gitdir: ${home}/other/.git' > .git` },
    { name: ".git is gone", command: "rm -rf .git" },
    { name: ".git is empty", command: "rm -rf .git; mkdir .git" },
  ];
}

function misleadingParts(world: AttackWorld): GitAttack[] {
  const { home } = world;
  return [
    {
      name: "a bare repository in the way",
      command: "git init -q --bare src/bare; printf '[core]\\n\\tbare = true\\n' > config",
    },
    { name: "the work tree is elsewhere", command: `git config core.worktree '${home}'` },
    { name: "alternates elsewhere", command: `echo '${home}/other/.git/objects' > .git/objects/info/alternates` },
    {
      name: "damaged objects",
      command: "find .git/objects -type f -exec chmod u+w {} + -exec sh -c 'echo x > \"$1\"' _ {} \\;",
    },
    { name: "damaged index", command: "echo DIRC-nonsense > .git/index" },
    {
      name: "sparse checkout and grafts",
      command:
        "mkdir -p .git/info; echo none > .git/info/sparse-checkout; git config core.sparseCheckout true; echo 0 > .git/info/grafts",
    },
    { name: "exclude everything", command: "mkdir -p .git/info; echo '*' > .git/info/exclude" },
    {
      name: "hooks of its own",
      command: `mkdir -p .git/hooks; for h in post-checkout post-index-change reference-transaction pre-commit post-commit post-merge fsmonitor-watchman; do printf '%s\\n' '#!/bin/sh' ${JSON.stringify(world.mark("hook"))} > .git/hooks/$h; chmod +x .git/hooks/$h; done; git config core.hooksPath .git/hooks`,
    },
  ];
}

/** Settings that name a program for git to run. */
function programSettings(world: AttackWorld): GitAttack[] {
  return [
    setting(world, "clean", "filter.x.clean"),
    setting(world, "smudge", "filter.x.smudge"),
    setting(world, "process", "filter.x.process"),
    setting(world, "external", "diff.external"),
    setting(world, "command", "diff.x.command"),
    setting(world, "textconv", "diff.x.textconv"),
    setting(world, "driver", "merge.x.driver"),
    setting(world, "fsmonitor", "core.fsmonitor"),
    setting(world, "pager", "core.pager"),
    setting(world, "editor", "core.editor"),
    setting(world, "askpass", "core.askPass"),
    setting(world, "ssh", "core.sshCommand"),
    setting(world, "gpg", "gpg.program"),
    setting(world, "alternate-refs", "core.alternateRefsCommand"),
    {
      name: "an included file",
      command: `${program(world, "include")}; git config -f .git/more filter.x.clean "$EVIL"; git config include.path more; echo '* filter=x' > .gitattributes`,
    },
    {
      name: "a configuration of the work tree",
      command: `${program(world, "worktree")}; git config extensions.worktreeConfig true; git config -f .git/config.worktree filter.x.clean "$EVIL"; echo '* filter=x' > .gitattributes`,
    },
  ];
}

function unusualFiles({ home, outside }: AttackWorld): GitAttack[] {
  const fifo = (path: string): GitAttack => ({
    name: `FIFO at ${path}`,
    command: `rm -rf ${path}; mkdir -p "$(dirname ${path})"; mkfifo ${path}`,
  });
  return [
    fifo(".gitignore"),
    fifo("src/.gitignore"),
    fifo(".gitattributes"),
    fifo(".gitmodules"),
    fifo(".git/HEAD"),
    fifo(".git/packed-refs"),
    fifo(".git/index"),
    fifo(".git/objects/info/alternates"),
    fifo(".git/info"),
    {
      name: "a socket in the tree",
      command: `'${process.execPath}' -e 'require("net").createServer().listen("s.sock",()=>process.kill(process.pid,9))'`,
    },
    { name: "a sparse file of a gigabyte", command: "truncate -s 1G big" },
    { name: "a sparse file of three gigabytes", command: "truncate -s 3G big" },
    {
      name: "a thousand directories deep",
      command:
        'd=.; for i in 1 2 3 4 5 6 7 8 9 10; do d="$d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d"; done; mkdir -p "$d"; echo x > "$d/f"',
    },
    { name: "a name that is not UTF-8", command: "printf x > \"$(printf 'a\\377b')\"" },
    { name: "a name with a newline", command: "printf x > \"$(printf 'a\\nb')\"" },
    {
      name: "links that lead out",
      command: `ln -s '${home}' out; ln -s '${outside}/file' file; rm -rf src; ln -s '${home}' src`,
    },
  ];
}
