/**
 * The inbox as lines of a terminal: the plans in their groups, or one of them closer. It only draws; `print` makes the
 * codes, and everything hidden in a string is made visible there.
 */
import type { InboxPlan } from "../../app/queries/inbox.ts";
import type { InboxDetails } from "../../app/queries/inbox-details.ts";
import { age, count } from "./format.ts";
import { painter, type Screen } from "./render.ts";
import { fit, oneLine, pad, width, wrapped, type Text } from "./terminal-text.ts";
import { cellText, type Cell, type Tone } from "./view.ts";

export interface InboxState {
  readonly plans: readonly InboxPlan[];
  /** The plan that keys are for. */
  readonly selected: string | undefined;
  /** Shown instead of the list. */
  readonly details: InboxDetails | undefined;
  readonly filter: string;
  /** The filter is being typed. */
  readonly filtering: boolean;
  /** The result of the last key, in lines. */
  readonly message: readonly Cell[];
  readonly now: number;
}

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** How costs are spelled; the words of the lists. */
export interface InboxWords {
  readonly cost: (plan: InboxPlan) => string;
  readonly spent: (details: InboxDetails) => string;
}

const HEADINGS = {
  "needs you": ["Needs you", "warn"],
  working: ["Working", "strong"],
  "ready to review": ["Ready to review", "good"],
  stopped: ["Stopped", "bad"],
  done: ["Done", "dim"],
} as const satisfies Record<InboxPlan["group"], readonly [string, Tone]>;

const KEYS = [
  "↑↓ move",
  "enter details",
  "r reply",
  "d diff",
  "a apply",
  "u undo",
  "c cancel",
  "x continue",
  "/ filter",
  "q leave",
];
/** From here on what a plan needs stands beside its request, otherwise below it. */
const WIDE = 100;
const STEP_MARKS: Readonly<Record<string, string>> = { done: "✓", running: "▸", failed: "✗", interrupted: "✗" };

/** Exactly as many lines as the terminal has rows, each at least one column narrower than it. */
export function inboxLines(state: InboxState, size: Size, screen: Screen, words: InboxWords): Text[] {
  const columns = Math.max(20, size.columns - 1);
  const rows = Math.max(4, size.rows);
  const paint = painter(screen);
  const foot = footOf(state, columns, paint);
  const room = Math.max(1, rows - 1 - foot.length);
  const { lines, from, to } =
    state.details === undefined
      ? listLines(state, columns, paint, words)
      : { lines: detailLines(state.details, columns, paint, words), from: 0, to: 0 };
  // As far down as the selected plan needs.
  const first = Math.max(0, Math.min(to >= room ? to - room + 1 : 0, from));
  const body = lines.slice(first, first + room);
  const empty = Array.from({ length: room - body.length }, () => "");
  return [headOf(state, columns, paint), ...body, ...empty, ...foot].slice(0, rows);
}

type Paint = ReturnType<typeof painter>;

function headOf({ plans, filter, filtering }: InboxState, columns: number, paint: Paint): Text {
  const amounts = Object.keys(HEADINGS).flatMap((group) => {
    const amount = plans.filter((plan) => plan.group === group).length;
    const words = group === "needs you" && amount > 1 ? "need you" : group;
    return amount === 0 || group === "done" ? [] : [`${amount} ${words}`];
  });
  const what = filter === "" && !filtering ? amounts.join(" · ") : `filter: ${filter}${filtering ? "▏" : ""}`;
  return paint(fit(`agents watch${what === "" ? "" : ` · ${what}`}`, columns), "strong");
}

function footOf({ message, filtering, details }: InboxState, columns: number, paint: Paint): Text[] {
  const said = message.flatMap((cell) =>
    wrapped(oneLine(cellText(cell)), columns)
      .slice(0, 3)
      .map((line) => (typeof cell === "string" ? fit(line, columns) : paint(fit(line, columns), cell.tone))),
  );
  const keys = filtering
    ? ["type words of the request", "enter keep", "esc all plans"]
    : details === undefined
      ? KEYS
      : ["esc back", ...KEYS.slice(2, -2), "q leave"];
  return [...said, ...packed(keys, columns).map((line) => paint(line, "dim"))];
}

/** The keys in as many lines as they need; none is cut in the middle. */
function packed(parts: readonly string[], columns: number): string[] {
  const lines: string[] = [];
  for (const part of parts) {
    const last = lines.at(-1);
    if (last !== undefined && width(last) + 3 + width(part) <= columns) lines[lines.length - 1] = `${last} · ${part}`;
    else lines.push(fit(part, columns));
  }
  return lines;
}

interface Listing {
  readonly lines: Text[];
  /** The lines of the selected plan, the heading of its group with the first one. */
  readonly from: number;
  readonly to: number;
}

function listLines(state: InboxState, columns: number, paint: Paint, words: InboxWords): Listing {
  const lines: Text[] = [];
  let [from, to] = [0, 0];
  let group: InboxPlan["group"] | undefined;
  const numbers = Math.max(1, ...state.plans.map(({ number }) => String(number).length));
  for (const plan of state.plans) {
    const start = lines.length;
    if (plan.group !== group) {
      const [heading, tone] = HEADINGS[plan.group];
      lines.push(paint(fit(heading, columns), tone));
      group = plan.group;
    }
    lines.push(...planLines(plan, { state, columns, paint, words, numbers }));
    if (plan.planId === state.selected) [from, to] = [start, lines.length - 1];
  }
  const none = state.filter === "" ? 'No plans. Begin with: agents run "<what you want done>"' : "No plan fits.";
  return { lines: lines.length === 0 ? [fit(none, columns)] : lines, from, to };
}

interface RowParts {
  readonly state: InboxState;
  readonly columns: number;
  readonly paint: Paint;
  readonly words: InboxWords;
  /** The width of the longest number. */
  readonly numbers: number;
}

function planLines(plan: InboxPlan, { state, columns, paint, words, numbers }: RowParts): Text[] {
  const isSelected = plan.planId === state.selected;
  const head = `${isSelected ? "▸" : " "} ${String(plan.number).padStart(numbers)}  `;
  const files = plan.changedFiles === 0 ? "-" : count(plan.changedFiles, "file");
  const right = `${pad(files, 8)} ${words.cost(plan).padStart(9)} ${age(state.now - Date.parse(plan.updatedAt)).padStart(7)}`;
  const room = columns - width(head) - width(right) - 2;
  const place = placeOf(plan);
  const needs = needsOf(plan);
  const tone: Tone = isSelected ? "strong" : plan.group === "done" ? "dim" : "strong";
  const request = (space: number): Text => {
    const text = pad(fit(plan.request, space), space);
    return isSelected || plan.group === "done" ? paint(text, tone) : text;
  };
  const needsTone: Tone = plan.sameFiles.length === 0 && plan.group === "stopped" ? "bad" : "warn";
  if (columns + 1 < WIDE) {
    const below = [needs, place].filter((text) => text !== "").join(" · ");
    const indent = " ".repeat(width(head));
    const more =
      below === "" || (needs === "" && place === "here") ? [] : [[indent, fit(below, columns - width(indent))]];
    return [
      [head, request(Math.max(4, room)), "  ", right],
      ...more.map(([space = "", text = ""]): Text => [space, paint(text, needs === "" ? "dim" : needsTone)]),
    ];
  }
  const longest = (texts: readonly string[], most: number): number => Math.min(Math.max(...texts.map(width)), most);
  const where = longest(state.plans.map(placeOf), Math.floor(room / 5));
  const what = longest(state.plans.map(needsOf), Math.floor((room - where - 4) / 2));
  const asked = room - where - 4 - what;
  return [
    [
      head,
      request(asked),
      "  ",
      paint(pad(fit(needs, what), what), needsTone),
      "  ",
      paint(pad(fit(place, where), where), "dim"),
      "  ",
      right,
    ],
  ];
}

function placeOf({ here, projects }: InboxPlan): string {
  return here ? "here" : projects.join(", ");
}

function needsOf({ needs, sameFiles }: InboxPlan): string {
  const same = sameFiles.length === 0 ? "" : `⚠ same file as ${sameFiles.join(", ")}`;
  return [needs ?? "", same].filter((text) => text !== "").join(" · ");
}

function detailLines(details: InboxDetails, columns: number, paint: Paint, words: InboxWords): Text[] {
  const paragraph = (text: string, tone?: Tone, most = 8): Text[] =>
    text
      .split("\n")
      .flatMap((line) => wrapped(line.replaceAll("\t", "  "), columns - 2))
      .slice(0, most)
      .map((line): Text => {
        const shown = `  ${fit(line, columns - 2)}`;
        return tone === undefined ? shown : paint(shown, tone);
      });
  const part = (heading: string, lines: readonly Text[]): Text[] =>
    lines.length === 0 ? [] : ["", paint(heading, "dim"), ...lines];
  const { question, alternatives, failure, steps, running, words: said } = details;
  return [
    ...paragraph(details.request, "strong", 4),
    ...part("It asks", [
      ...(question === null ? [] : paragraph(question, "warn")),
      ...alternatives.flatMap((one, at) => paragraph(`${at + 1}. ${oneLine(one)}`, undefined, 2)),
    ]),
    ...part("Why it stopped", failure === null ? [] : paragraph(failure, "bad")),
    ...part(
      "Runs now",
      running.map((call) => fit(`  ▸ ${call}`, columns)),
    ),
    ...part(
      "Steps",
      steps.map(({ step, description, state }) => {
        const tone: Tone =
          state === "done" ? "good" : state === "failed" ? "bad" : state === "running" ? "strong" : "dim";
        return paint(fit(`  ${STEP_MARKS[state] ?? "·"} ${step}  ${description}`, columns), tone);
      }),
    ),
    ...part("Its last words", said === null ? [] : paragraph(said)),
    ...part("Cost", paragraph(words.spent(details), undefined, 3)),
  ];
}

/** The plans whose request, state or place has all words of the filter. */
export function filtered(plans: readonly InboxPlan[], filter: string): readonly InboxPlan[] {
  const words = filter
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  return plans.filter(({ request, standing, projects, number, here }) => {
    const text = [request, standing, ...projects, String(number), here ? "here" : ""].join("\n").toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

/** A frame for the whole screen, in one write, so that no half of one is ever seen. */
export function frameOf(lines: readonly Text[]): Text {
  const drawn = lines.flatMap((line, at): Text[] => [...(at === 0 ? [] : ["\n"]), line, { move: "erase line" }]);
  return [{ move: "home" }, ...drawn, { move: "erase below" }];
}
