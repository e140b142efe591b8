import { Writable } from "node:stream";
import { globSync, readFileSync } from "node:fs";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { AgentsError, ValidationError } from "../../domain/errors/errors.ts";
import type { RunEvent } from "../../domain/run-event.ts";
import { progressOf } from "./file-progress.ts";
import { closeGate, coded, editorOutput, gated, print } from "./gate.ts";
import { liveView } from "./live-view.ts";
import { writeError, writeOutcome, type Run, type Streams } from "../output.ts";
import { render, type HumanFormat } from "./render.ts";
import { Pieces, width } from "./terminal-text.ts";
import { forbiddenIn, withoutOwnCodes } from "../testing/hidden-characters.ts";
import { toned, type View } from "./view.ts";

/** Any code units, and often those that matter. */
const hostile = fc
  .array(
    fc.oneof(
      fc.string({ unit: "binary", maxLength: 5 }),
      fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)),
      fc.constantFrom(
        "\u001b[2J",
        "\u009b1A",
        "\r",
        "\r\n",
        "\n",
        "\t",
        "\b",
        "\u202e",
        "\u2066",
        "\u200d",
        "\ufe0f",
        "👩",
        "1",
        "日",
        "\u{e0041}",
        "\ud83d",
        "│",
        " ",
      ),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(""));

const RUN: Run = { command: "plan use", format: "rich", startedAt: 0, durationMs: 1, events: false, verbose: true };

function streams(isTTY: boolean): { streams: Streams; written: () => string } {
  let written = "";
  const sink = { write: (text: string) => (written += text) };
  const terminal = { isTTY, columns: 60, environment: {} };
  const write: Streams["out"] = (text) => print(sink, text);
  const page: Streams["page"] = () => Promise.resolve(false);
  const both = { outTerminal: terminal, errTerminal: terminal };
  return { streams: { out: write, err: write, page, ...both }, written: () => written };
}

const FORMATS = ["rich", "color", "table", "plain"] as const satisfies readonly HumanFormat[];

function viewOf(text: string): View {
  return [
    {
      kind: "fields",
      title: text,
      rows: [
        [text, text],
        [text, toned(text, "bad")],
      ],
    },
    { kind: "lines", title: text, lines: [text, toned(text, "dim")] },
    { kind: "table", title: text, columns: [{ keep: text }, text], rows: [[text, toned(text, "good")]], empty: text },
    { kind: "table", title: text, columns: [text], rows: [], empty: text },
  ];
}

test("no text can send a code to the terminal, from any place in a result or an error, in any format", async () => {
  await fc.assert(
    fc.asyncProperty(hostile, fc.boolean(), async (text, isTTY) => {
      const messages = (["info", "warning", "error"] as const).map((level) => ({ level, text }));
      for (const format of [...FORMATS, "json", "yaml"] as const) {
        const to = streams(isTTY);
        const run = { ...RUN, command: text, format };
        const data = { [`k${text}`]: text, list: [text, { [text]: { deep: [text] } }] };
        await writeOutcome({ data, view: viewOf(text), messages, next: [{ text }] }, run, to.streams);
        await writeOutcome({ data, view: [], messages, text }, run, to.streams);
        const issues = [{ path: text, message: text, suggestion: text, file: text }];
        await writeError(new ValidationError(text, issues, { kept: text, next: [{ text }] }), run, to.streams);
        await writeError(new AgentsError("usage", text, { cause: new Error(text) }), run, to.streams);
        await writeError(text, run, to.streams);
        expect(forbiddenIn(to.written()), format).toEqual([]);
      }
    }),
    { numRuns: 150 },
  );
});

test("the machine formats still carry every value exactly", async () => {
  expect.hasAssertions();
  await fc.assert(
    fc.asyncProperty(hostile, async (text) => {
      const data = { [`k${text}`]: text, list: [text] };
      const expected: unknown = JSON.parse(JSON.stringify(data));
      for (const format of ["json", "yaml"] as const) {
        const to = streams(false);
        await writeOutcome({ data, view: [], messages: [] }, { ...RUN, format }, to.streams);
        const read = (format === "json" ? JSON.parse(to.written()) : parse(to.written())) as { data: unknown };
        // Half of a surrogate pair is not text in YAML.
        if (format === "json" || text.isWellFormed()) expect(read.data).toEqual(expected);
      }
    }),
    { numRuns: 150, examples: [[" \n"], ["\n a"], ["\t\n"]] },
  );
});

test("nor in what is drawn while a plan works, or while files are read", () => {
  fc.assert(
    fc.property(hostile, (text) => {
      for (const terminal of [true, false]) {
        let written = "";
        const stream = { columns: 50, rows: 10, write: (part: string) => (written += part) };
        const view = liveView({ stream, screen: { format: "rich", columns: 50 }, terminal });
        for (const event of events(text)) view.on(event);
        view.say(text);
        view.end();
        let now = 0;
        const progress = progressOf(text, { stream, now: () => (now += 2_000), terminal });
        progress.update(1, 2);
        progress.update(2, 2);
        progress.end();
        expect(forbiddenIn(written)).toEqual([]);
      }
    }),
    { numRuns: 150 },
  );
});

function events(text: string): RunEvent[] {
  return [
    { type: "decided", steps: [{ step: text, description: text }], before: false },
    { type: "step_started", step: text, description: text },
    { type: "text", step: text, text },
    { type: "tool_ended", step: text, tool: text, target: text, durationMs: 1, error: text },
    { type: "step_failed", step: text, description: text, durationMs: 1 },
    { type: "hook", hook: text, resource: text, event: "failed", durationMs: 1 },
    { type: "validation", validation: text, resource: text, event: "failed", durationMs: 1 },
  ] as RunEvent[];
}

function drawn(view: View, format: "rich" | "table"): string {
  return withoutOwnCodes(coded(render(view, { format, columns: 40 })));
}

test("frames stay straight and within the terminal with any content", () => {
  let framed = 0;
  fc.assert(
    fc.property(hostile, (text) => {
      for (const format of ["rich", "table"] as const) {
        const table = {
          kind: "table",
          title: "T",
          columns: ["A", "B"],
          rows: [
            [text, "b"],
            ["a", text],
          ],
          empty: "",
        } as const;
        const lines = drawn([table], format).split("\n").slice(1);
        expect(new Set(lines.map((line) => width(line))).size).toBe(1);
        expect(width(lines[0] ?? "")).toBeLessThanOrEqual(40);
        const fields = { kind: "fields", title: text, rows: [["one", text]] } as const;
        const box = drawn([{ kind: "lines", title: "T", lines: [text, "x"] }], format);
        for (const card of [drawn([fields], format), box].map((shown) => shown.split("\n"))) {
          // A frame that would not fit is left out.
          if (!/^[╭┌]/.test(card[0] ?? "")) continue;
          framed += 1;
          expect(new Set(card.map((line) => width(line))).size, format).toBe(1);
        }
      }
    }),
    { numRuns: 300 },
  );
  expect(framed).toBeGreaterThan(100);
});

/** A stream like stdout. */
function stream(): { stream: NodeJS.WriteStream; written: () => string } {
  let written = "";
  const sink = new Writable({
    decodeStrings: false,
    write: (chunk: unknown, _encoding, done) => {
      written += String(chunk);
      done();
    },
  });
  return { stream: Object.assign(sink, { columns: 70 }) as unknown as NodeJS.WriteStream, written: () => written };
}

test("the gate stands at the stream: what is written past `print` passes it too, as text or as bytes", async () => {
  const { stream: out, written } = stream();
  closeGate(out);
  out.write("a\u001b[31m\n");
  out.write(Buffer.from("b\u009b\n"));
  await new Promise<void>((resolve) => out.write("c\u202e\n", () => resolve()));
  await new Promise<void>((resolve) => out.write("d\b\n", "utf8", () => resolve()));
  print(out, [toned("e\u001b", "bad"), { move: "up", lines: 2 }, { move: "erase below" }, "\r"]);
  expect(written()).toBe(
    "a<U+001B>[31m\nb<U+009B>\nc<U+202E>\nd<U+0008>\n\u001b[31me<U+001B>\u001b[39m\u001b[2A\u001b[J<U+000D>",
  );
  editorOutput(out).write("\u001b[1G");
  expect(written().endsWith("\u001b[1G")).toBe(true);
  expect(editorOutput(out)).toMatchObject({ columns: 70 });
  const open = stream();
  editorOutput(open.stream).write("\u001b[1G");
  expect(open.written()).toBe("\u001b[1G");
});

test("a stream of the caller is written to through a gate, and left as it is", () => {
  const { stream: out, written } = stream();
  const behind = gated(out);
  behind.write("a\u001b[31m\n");
  print(behind, toned("b\u001b", "bad"));
  editorOutput(behind).write("\u001b[1G");
  expect(written()).toBe("a<U+001B>[31m\n\u001b[31mb<U+001B>\u001b[39m\u001b[1G");
  expect(behind.columns).toBe(70);
  out.write("\u001b");
  expect(written().endsWith("\u001b")).toBe(true);
  closeGate(out);
  expect(gated(out)).toBe(out);
});

test("what arrives in pieces is not torn: half of a character, of an emoji, of a line end", () => {
  const text = "a👩🏽\u200d💻 ❤️\u200d🔥 🚀🚀 1\r\nb\u001b[2J©";
  const whole = coded(text);
  expect(whole).toContain("👩🏽\u200d💻 ❤️\u200d🔥");
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: text.length }), { maxLength: 30 }), (cuts) => {
      let written = "";
      const pieces = new Pieces((piece) => (written += coded(piece)));
      const places = [0, ...cuts.toSorted((a, b) => a - b), text.length];
      for (const [index, place] of places.entries()) pieces.push(text.slice(place, places[index + 1] ?? place));
      pieces.end();
      expect(written).toBe(whole);
    }),
  );
});

test("no other file makes codes or opens a way around the gate", () => {
  const files = globSync("src/**/*.ts").filter(
    (file) => !/\.test\.ts$|\/testing\/|src\/cli\/terminal\/gate\.ts$/.test(file),
  );
  expect(files.length).toBeGreaterThan(300);
  const suspicious = /\\u001b|\\x1b|\\033|picocolors|writeSync\(\s*[12]\b|process\.binding|_rawDebug|editorOutput\(/;
  const found = files.filter((file) => suspicious.test(readFileSync(file, "utf8")));
  // The question alone draws by an editor of its own; the codes of keys are read, and that file has nowhere to write
  // to.
  expect(found.toSorted()).toEqual(["src/cli/terminal/confirm.ts", "src/cli/terminal/keys.ts"]);
  expect(readFileSync("src/cli/terminal/keys.ts", "utf8")).not.toMatch(/\bprint\b|write|stdout|stderr|Output/);
});
