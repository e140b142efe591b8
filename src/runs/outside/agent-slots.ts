/** So many outside agents run at the same time in this process: each takes 0.3 to 1.6 GB of memory. */
const waiting: (() => void)[] = [];
let running = 0;

export async function inAgentSlot<T>(most: number, run: () => Promise<T>): Promise<T> {
  while (running >= most) await new Promise<void>((resolve) => waiting.push(resolve));
  running += 1;
  try {
    return await run();
  } finally {
    running -= 1;
    waiting.shift()?.();
  }
}
