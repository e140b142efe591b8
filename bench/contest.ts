/**
 * Ours and the peers, one plan at a time and sixteen at once, in interleaved rounds: how many durable steps each does
 * in a second.
 */
import { grouped, met, summarize, table, timed, type Sample } from "./measure.ts";
import { ifItRuns } from "./peer.ts";

const AT_ONCE = [1, 16] as const;
type AtOnce = (typeof AT_ONCE)[number];

const AIM_RATIO = { 1: 2, 16: 5 } as const satisfies Record<AtOnce, number>;

const JUDGED = {
  "as shipped": "the best peer at the durability it chooses",
  "our durability": "the best peer at our durability",
  "in memory": "the peer that keeps nothing",
} as const;

export interface Contestant {
  readonly label: string;
  readonly version: string;
  /** Peers with the durability they choose themselves, with ours, and with none. */
  readonly kind: "ours" | keyof typeof JUDGED;
  /** Runs that many plans; what is counted for it. */
  runPlans(plans: number, atOnce: number): Promise<Cost>;
  /** The settings of the database as its own connection reports them. */
  durability(): Promise<string>;
  close(): Promise<void>;
}

interface Cost {
  readonly ms: number;
  /** Of all threads of this process: on a busy machine steadier than time, but blind to waiting for the disk. */
  readonly processorMs: number;
}

/** The time that `work` takes. */
export async function counted(work: () => Promise<unknown>): Promise<Cost> {
  const before = process.cpuUsage();
  const ms = await timed(work);
  const { user, system } = process.cpuUsage(before);
  return { ms, processorMs: (user + system) / 1_000 };
}

export interface Contest {
  readonly rounds: number;
  /** Plans of one round. Sixteen at once finish sooner per plan, so more of them make a round of similar length. */
  readonly plans: Readonly<Record<AtOnce, number>>;
  /** Steps of one plan. */
  readonly steps: number;
  /** How many steps a second we want at sixteen at once; undefined for no such aim. */
  readonly aim?: number;
}

interface Figures {
  readonly perSecond: Sample;
  readonly processorMicroseconds: Sample;
}
type Rates = ReadonlyMap<Contestant, Readonly<Record<AtOnce, Figures>>>;

export async function hold(contestants: readonly Contestant[], contest: Contest): Promise<void> {
  const rates = await measure(contestants, contest);
  for (const atOnce of AT_ONCE) report(contestants, rates, { ...contest, atOnce });
}

export async function enter(contestants: Contestant[], name: string, make: () => Promise<Contestant[]>): Promise<void> {
  contestants.push(...((await ifItRuns(name, make)) ?? []));
}

async function measure(contestants: readonly Contestant[], { rounds, plans, steps }: Contest): Promise<Rates> {
  const none = (): Record<AtOnce, Cost[]> => ({ 1: [], 16: [] });
  const samples = new Map(contestants.map((contestant) => [contestant, none()]));
  const durability = new Map(contestants.map((contestant) => [contestant, new Set<string>()]));
  // Round 0 warms up and is not counted.
  for (let round = 0; round <= rounds; round += 1) {
    for (const atOnce of AT_ONCE) {
      for (const contestant of contestants) {
        const cost = await contestant.runPlans(plans[atOnce], atOnce);
        if (round > 0) samples.get(contestant)?.[atOnce].push(cost);
        durability.get(contestant)?.add(await contestant.durability());
      }
    }
  }
  console.log(`\n${rounds} interleaved rounds; what each database said of itself during them:`);
  for (const [contestant, said] of durability)
    console.log(`  ${contestant.label} (${contestant.version}): ${[...said].toSorted().join(" or ")}`);
  const figures = (costs: readonly Cost[], atOnce: AtOnce): Figures => {
    const count = plans[atOnce] * steps;
    return {
      perSecond: summarize(costs.map(({ ms }) => (count * 1_000) / ms)),
      processorMicroseconds: summarize(costs.map(({ processorMs }) => (processorMs * 1_000) / count)),
    };
  };
  return new Map([...samples].map(([one, costs]) => [one, { 1: figures(costs[1], 1), 16: figures(costs[16], 16) }]));
}

function report(contestants: readonly Contestant[], rates: Rates, contest: Contest & { atOnce: AtOnce }): void {
  const { atOnce, plans, steps, aim } = contest;
  const rate = (contestant: Contestant): Sample => rates.get(contestant)?.[atOnce].perSecond ?? summarize([]);
  const rows = contestants.map((contestant) => {
    const { median, lowest, highest } = rate(contestant);
    const processor = rates.get(contestant)?.[atOnce].processorMicroseconds.median ?? Number.NaN;
    return [contestant.label, grouped(median), `${grouped(lowest)} – ${grouped(highest)}`, `${grouped(processor)} µs`];
  });
  console.log(
    `\n${atOnce === 1 ? "1 plan at a time" : `${atOnce} plans at once`}, ${plans[atOnce]} plans of ${steps} steps per round`,
  );
  console.log(table([["", "steps/s (median)", "lowest – highest", "processor time per step"], ...rows]));

  for (const own of contestants.filter(({ kind }) => kind === "ours")) {
    const { median } = rate(own);
    for (const [kind, which] of Object.entries(JUDGED)) {
      const [other] = contestants.filter((one) => one.kind === kind).sort((a, b) => rate(b).median - rate(a).median);
      if (other === undefined) continue;
      const ratio = median / rate(other).median;
      const wanted = AIM_RATIO[atOnce];
      console.log(
        `${own.label}: ${ratio.toFixed(2)}× ${which} (${other.label}); aim ≥ ${wanted}×: ${met(ratio >= wanted)}`,
      );
    }
    if (atOnce === 16 && aim !== undefined) {
      console.log(`${own.label}: ${grouped(median)} steps/s; aim ≥ ${grouped(aim)}: ${met(median >= aim)}`);
    }
  }
}

export function described(journal: unknown, synchronous: unknown): string {
  const levels: Readonly<Record<string, string>> = { 0: "OFF", 1: "NORMAL", 2: "FULL", 3: "EXTRA" };
  return `journal_mode=${String(journal)} synchronous=${levels[String(synchronous)] ?? String(synchronous)}`;
}
