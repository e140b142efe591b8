/** Ctrl-C asks the work to stop where it can go on later; a second one ends the process at once. */
export function interruptible(): { signal: AbortSignal; stop: () => void } {
  const controller = new AbortController();
  const onInterrupt = (): void => {
    if (controller.signal.aborted) process.exit(130);
    process.stderr.write("stopping cleanly; once more to stop at once\n");
    controller.abort();
  };
  process.on("SIGINT", onInterrupt);
  return { signal: controller.signal, stop: () => process.off("SIGINT", onInterrupt) };
}
