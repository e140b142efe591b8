import type { Io } from "./io.ts";

/** An interrupt (Ctrl-C) asks the work to stop where it can be continued later. `say` tells the user so. */
export function interruptible(
  io: Io,
  say: (text: string) => void = (text) => void io.stderr.write(`${text}\n`),
): { signal: AbortSignal; stop: () => void } {
  const controller = new AbortController();
  const stop = io.onInterrupt(() => {
    say("stopping; press Ctrl-C again to kill");
    controller.abort();
  });
  return { signal: controller.signal, stop };
}
