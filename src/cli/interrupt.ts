/** Ctrl-C asks the work to stop where it can go on later; a second one ends the process at once. `say` tells the user so. */
export function interruptible(say: (text: string) => void = (text) => void process.stderr.write(`${text}\n`)): {
  signal: AbortSignal;
  stop: () => void;
} {
  const controller = new AbortController();
  const onInterrupt = (): void => {
    if (controller.signal.aborted) process.exit(130);
    say("stopping cleanly; once more to stop at once");
    controller.abort();
  };
  process.on("SIGINT", onInterrupt);
  return { signal: controller.signal, stop: () => process.off("SIGINT", onInterrupt) };
}
