/**
 * A command ends with everything it started, so `server &` is gone as soon as the command is. The namespace of a
 * confined command holds nothing but its own processes, so a shell around it can see what is left, and say so in the
 * output. Processes that are just about to end get a moment.
 */
const LEFTOVERS = [
  '/bin/sh -c "$1"; code=$?',
  "left() { names=; for p in /proc/[0-9]*; do",
  "case $p in /proc/1 | /proc/$$) continue ;; esac",
  '{ read -r line <"$p/stat"; } 2>/dev/null || continue',
  "case ${line##*) } in [ZX]*) continue ;; esac",
  "line=${line#*\\(}",
  'names="${names:+$names, }${line%)*}"; done; }',
  'left; if [ -n "$names" ]; then sleep 0.1; left; fi',
  'if [ -n "$names" ]; then',
  'echo "[ended together with the command that started it: $names; what has to stay needs background: true]"; fi',
  "exit $code",
].join("\n");

/** For a shell's command, as `runShell` has it. */
export function withLeftoversTold([shell = "", flag = "", script = ""]: readonly string[]): readonly string[] {
  return [shell, flag, LEFTOVERS, "sh", script];
}
