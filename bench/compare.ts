import { met, summarize, table } from "./measure.ts";

interface Comparison {
  readonly what: string;
  /** At most that many times the peer's time; undefined: no aim was set. */
  readonly aim: number | undefined;
  readonly unit: { readonly name: string; readonly perMs: number };
  /** Milliseconds of one round. */
  readonly ours: (round: number) => Promise<number>;
  readonly peer: { readonly name: string; readonly run: (round: number) => Promise<number> };
}

/**
 * In turn, so that the machine's moods hit both alike; round 0 warms up. Which of the two is first changes each round.
 */
export async function compare(rounds: number, { what, aim, unit, ours, peer }: Comparison): Promise<void> {
  const samples = { ours: [] as number[], peer: [] as number[] };
  for (let round = 0; round <= rounds; round += 1) {
    const ms = { ours: 0, peer: 0 };
    for (const side of round % 2 === 0 ? (["ours", "peer"] as const) : (["peer", "ours"] as const))
      ms[side] = await (side === "ours" ? ours(round) : peer.run(round));
    if (round === 0) continue;
    samples.ours.push(ms.ours * unit.perMs);
    samples.peer.push(ms.peer * unit.perMs);
  }
  const row = (name: string, values: readonly number[]): string[] => {
    const { median, lowest, highest } = summarize(values);
    return [name, median.toFixed(0), `${lowest.toFixed(0)} – ${highest.toFixed(0)}`];
  };
  const ratio = summarize(samples.ours).median / summarize(samples.peer).median;
  console.log(`\n${what}, ${rounds} rounds in turn`);
  console.log(
    table([["", `${unit.name} (median)`, "lowest – highest"], row("ours", samples.ours), row(peer.name, samples.peer)]),
  );
  const verdict = aim === undefined ? "no aim was set" : `aim ≤ ${aim}×: ${met(ratio <= aim)}`;
  console.log(`${ratio.toFixed(2)}× ${peer.name}; ${verdict}`);
}
