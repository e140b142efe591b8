import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { withEveryHostileString } from "../../store/testing/hostile-strings.ts";
import { ValidationError, type ValidationIssue } from "../errors/errors.ts";
import { waves } from "./step-graph.ts";
import { actorVariables, parseToolActor, renderParams, stepOrder } from "./tool-actor.ts";
import { TOOL_NAMES } from "../names/tool-names.ts";

const WRITE = { tool: "write_file", params: { resource: "api", path: "a.txt", content: "a\tb\r\n" } };
const MINIMAL = { name: "greeter", type: "tool", description: "Greets", steps: [WRITE] };

describe("a tool actor", () => {
  test("needs four things; a step needs only its tool", () => {
    expect(parseToolActor({ ...MINIMAL, steps: [{ tool: "git_status" }] })).toEqual({
      name: "local/greeter",
      type: "tool",
      description: "Greets",
      steps: [{ id: "step-1", tool: "git_status", params: {}, needs: [] }],
    });
  });

  test("keeps everything it is given", () => {
    const params = { a: [1, 0.5, -3, true, null, { b: "ü\n\t{x}" }], e: {}, l: [], "odd key.": "" };
    const steps = [
      { id: "Write_1", tool: "write_file", params },
      { id: "shout-2", tool: "shell_execute", params: {}, needs: ["Write_1"] },
    ];
    expect(parseToolActor({ ...MINIMAL, name: "Team/Greeter", steps })).toEqual({
      name: "Team/Greeter",
      type: "tool",
      description: "Greets",
      steps: [{ ...steps[0], needs: [] }, steps[1]],
    });
  });

  test.each(TOOL_NAMES)("may use %s, with hyphens too", (tool) => {
    const steps = [{ tool }, { tool: tool.replaceAll("_", "-") }];
    expect(parseToolActor({ ...MINIMAL, steps }).steps.map((step) => step.tool)).toEqual([tool, tool]);
  });

  test("numbers the steps that have no id by their place, past the ids that others were given", () => {
    const ids = (given: (string | undefined)[]): string[] =>
      parseToolActor({ ...MINIMAL, steps: given.map((id) => ({ ...WRITE, ...(id && { id }) })) }).steps.map(
        (step) => step.id,
      );
    expect(ids([undefined, undefined, undefined])).toEqual(["step-1", "step-2", "step-3"]);
    expect(ids([undefined, "mine", undefined])).toEqual(["step-1", "mine", "step-3"]);
    expect(ids(["step-2", undefined, undefined])).toEqual(["step-2", "step-3", "step-4"]);
    expect(ids([undefined, undefined, "step-1"])).toEqual(["step-2", "step-3", "step-1"]);
  });

  test("may need steps by the ids they got, also later ones", () => {
    const steps = [{ ...WRITE, needs: ["step-2"] }, WRITE];
    expect(stepOrder(parseToolActor({ ...MINIMAL, steps }))).toEqual([["step-2"], ["step-1"]]);
  });

  test("may have a thousand steps, each needing all before it", () => {
    const ids = Array.from({ length: 1000 }, (_, index) => `s${index}`);
    const steps = ids.map((id, index) => ({ ...WRITE, id, needs: ids.slice(0, index) }));
    expect(stepOrder(parseToolActor({ ...MINIMAL, steps }))).toEqual(ids.map((id) => [id]));
    expect(paths({ ...MINIMAL, steps: [...steps, WRITE] })).toEqual(["steps"]);
  });

  test("parsed again is the same", () => {
    const once = parseToolActor({ ...MINIMAL, steps: [WRITE, { ...WRITE, id: "step-1" }] });
    expect(parseToolActor(once)).toEqual(once);
  });
});

describe("refused", () => {
  test.each(["name", "type", "description", "steps"] as const)("without %s", (key) => {
    const { [key]: _, ...rest } = MINIMAL;
    expect(refusalError(rest).issues).toEqual([{ path: key, message: "is required" }]);
  });

  test.each(["llm", "graph"])("as a %s actor, in one clear sentence, with anything else in its file", (type) => {
    const { message, issues } = refusalError({ name: "x", type, provider: "openai", model: "gpt-4o" });
    expect(message).toContain("this must be a tool actor");
    expect(issues.map(({ path }) => path)).toEqual(["type"]);
  });

  test("as an unknown type, together with what else is wrong", () => {
    expect(refusalError({ ...MINIMAL, type: "tol", name: "1" }).issues).toMatchObject([
      { path: "name" },
      { path: "type", message: expect.stringContaining("this must be a tool actor"), suggestion: "tool" },
    ]);
  });

  test.each([
    ["an unknown key", { descripton: "x" }, "descripton", "description"],
    ["an unknown key of a step", { steps: [{ ...WRITE, parms: {} }] }, "steps.0.parms", "params"],
    ["an unknown tool", { steps: [{ tool: "wirte-file" }] }, "steps.0.tool", "write_file"],
    [
      "an unknown need",
      {
        steps: [
          { ...WRITE, id: "write" },
          { ...WRITE, needs: ["wriet"] },
        ],
      },
      "steps.1.needs.0",
      "write",
    ],
  ])("with a suggestion for %s", (_, more, path, suggestion) => {
    expect(refusalError({ ...MINIMAL, ...more }).issues).toMatchObject([{ path, suggestion }]);
  });

  test.each([
    ["a name that is none", { name: "1x" }, "name"],
    ["a provider's namespace", { name: "openai/x" }, "name"],
    ["an empty description", { description: " " }, "description"],
    ["a control character in the description", { description: "\u001b[2J" }, "description"],
    ["no step", { steps: [] }, "steps"],
    ["steps that are not a list", { steps: {} }, "steps"],
    ["a step that is not an object", { steps: [5] }, "steps.0"],
    ["a step without a tool", { steps: [{}] }, "steps.0.tool"],
    ["a tool in capitals", { steps: [{ tool: "READ_FILE" }] }, "steps.0.tool"],
    ["a tool that is not text", { steps: [{ tool: 1 }] }, "steps.0.tool"],
    ["an id that begins with a digit", { steps: [{ ...WRITE, id: "1a" }] }, "steps.0.id"],
    ["an empty id", { steps: [{ ...WRITE, id: "" }] }, "steps.0.id"],
    ["an id of 101 characters", { steps: [{ ...WRITE, id: "a".repeat(101) }] }, "steps.0.id"],
    ["an id with a line break", { steps: [{ ...WRITE, id: "a\n" }] }, "steps.0.id"],
    ["one id for two steps", { steps: [{ ...WRITE, id: "a" }, WRITE, { ...WRITE, id: "a" }] }, "steps.2.id"],
    ["a need of itself", { steps: [{ ...WRITE, id: "a", needs: ["a"] }] }, "steps.0.needs.0"],
    ["the same need twice", { steps: [WRITE, { ...WRITE, needs: ["step-1", "step-1"] }] }, "steps.1.needs.1"],
    ["needs that are not a list", { steps: [{ ...WRITE, needs: "a" }] }, "steps.0.needs"],
    ["a list as params", { steps: [{ ...WRITE, params: [] }] }, "steps.0.params"],
    ["null as params", { steps: [{ ...WRITE, params: null }] }, "steps.0.params"],
    ["a date as params", { steps: [{ ...WRITE, params: new Date(0) }] }, "steps.0.params"],
    ["a NUL in params", { steps: [{ ...WRITE, params: { a: ["\0"] } }] }, "steps.0.params.a.0"],
    ["17 levels of params", { steps: [{ ...WRITE, params: nested(17) }] }, `steps.0.params${".a".repeat(16)}`],
    ["params of more than 256 KiB", { steps: [{ ...WRITE, params: { a: "x".repeat(262_144) } }] }, "steps.0.params"],
  ])("%s", (_, more, path) => {
    expect(paths({ ...MINIMAL, ...more })).toEqual([path]);
  });

  test("not for 16 levels of params, nor for 256 KiB of them", () => {
    const large = { a: "x".repeat(256 * 1024 - '{"a":""}'.length) };
    for (const params of [nested(16), large]) {
      expect(parseToolActor({ ...MINIMAL, steps: [{ ...WRITE, params }] }).steps[0]?.params).toEqual(params);
    }
  });

  test("with every problem of form and of meaning in the one error", () => {
    const steps = [
      { tool: "nothing", params: { a: Number.NaN, b: "\0" }, needs: ["b"], extra: 1 },
      { id: "a", tool: "git_log", needs: ["c"] },
      { id: "c", tool: "git_log", needs: ["a", "a", "zebra"] },
    ];
    expect(paths({ name: "system/x", type: "tool", description: "x", steps, zebra: 1 }).sort()).toEqual([
      "name",
      "steps.0.extra",
      "steps.0.needs.0",
      "steps.0.params.a",
      "steps.0.params.b",
      "steps.0.tool",
      "steps.1.needs",
      "steps.2.needs.1",
      "steps.2.needs.2",
      "zebra",
    ]);
  });

  test("a hundred thousand needs that name no step, soon", () => {
    const steps = Array.from({ length: 1000 }, (_, index) => ({ ...WRITE, id: `step_${index}` }));
    const needs = Array.from({ length: 100_000 }, (_, index) => `setp_${index}`);
    const { issues } = refusalError({ ...MINIMAL, steps: [...steps.slice(1), { ...WRITE, needs }] });
    expect(issues).toHaveLength(100_000);
    expect(issues[0]?.suggestion).toBeDefined();
    expect(issues.at(-1)?.suggestion).toBeUndefined();
  });

  test.each([null, undefined, 5, "text", [], true])("%j instead of an object", (input) => {
    expect(paths(input)).toEqual([""]);
  });
});

describe("steps that wait for each other", () => {
  const cycles = (needs: Record<string, string[]>): ValidationIssue[] => {
    const steps = Object.entries(needs).map(([id, wanted]) => ({ ...WRITE, id, needs: wanted }));
    return [...refusalError({ ...MINIMAL, steps }).issues];
  };

  test("are named in the order in which they wait", () => {
    const issues = cycles({ start: [], a: ["start", "c"], b: ["a"], c: ["b"], end: ["c"] });
    expect(issues).toEqual([{ path: "steps.1.needs", message: "the steps wait for each other: a → c → b → a" }]);
  });

  test("are all named, each once", () => {
    const issues = cycles({ a: ["b"], b: ["a", "d"], c: ["d"], d: ["c"] });
    expect(issues.map(({ message }) => message.split(": ")[1])).toEqual(["a → b → a", "d → c → d"]);
  });

  test("are not named again for a longer way around", () => {
    const issues = cycles({ a: ["b"], b: ["c"], c: ["b", "a"] });
    expect(issues.map(({ message }) => message.split(": ")[1])).toEqual(["b → c → b"]);
  });

  test("are not listed in every way around that there is", () => {
    const ids = Array.from({ length: 300 }, (_, index) => `s${index}`);
    const issues = cycles(Object.fromEntries(ids.map((id) => [id, ids.filter((other) => other !== id)])));
    expect(issues.length).toBeGreaterThan(0);
    expect(issues.length).toBeLessThan(300);
  });

  test("have no order", () => {
    const needs = { params: {}, tool: "git_log" } as const;
    const a = { ...needs, id: "a", needs: ["b"] };
    const b = { ...needs, id: "b", needs: ["a"] };
    expect(() => stepOrder({ steps: [a, b] })).toThrow("waits for itself");
    expect(() => stepOrder({ steps: [a] })).toThrow('no step "b"');
  });
});

/** Graphs without cycles: each step needs only steps before it in a hidden order that is not the order of the file. */
const graphs = fc
  .array(fc.array(fc.nat(), { maxLength: 4 }), { minLength: 1, maxLength: 40 })
  .chain((wanted) =>
    fc.record({
      wanted: fc.constant(wanted),
      order: fc.shuffledSubarray([...wanted.keys()], { minLength: wanted.length }),
    }),
  )
  .map(({ wanted, order }) =>
    order.map((rank) => ({
      ...WRITE,
      id: `s${rank}`,
      needs: rank === 0 ? [] : [...new Set((wanted[rank] ?? []).map((one) => `s${one % rank}`))],
    })),
  );

describe("the order of steps", () => {
  test("has every step once, never before what it needs, never later than it must be, as the file has them", () => {
    fc.assert(
      fc.property(graphs, (steps) => {
        fc.pre(steps.some(({ needs }) => needs.length > 0));
        const order = stepOrder(parseToolActor({ ...MINIMAL, steps }));
        expect(order.flat().sort()).toEqual(steps.map(({ id }) => id).sort());
        const place = new Map(order.flatMap((wave, index) => wave.map((id) => [id, index] as const)));
        for (const { id, needs } of steps) {
          const latest = Math.max(-1, ...needs.map((need) => place.get(need) ?? Number.NaN));
          expect(place.get(id)).toBe(latest + 1);
        }
        const positions = new Map(steps.map(({ id }, index) => [id, index]));
        for (const wave of order) {
          const places = wave.map((id) => positions.get(id) ?? -1);
          expect(places).toEqual([...places].sort((a, b) => a - b));
        }
      }),
    );
  });

  test("does not depend on the order in which a step names its needs", () => {
    fc.assert(
      fc.property(graphs, (steps) => {
        const turned = steps.map((step) => ({ ...step, needs: step.needs.toReversed() }));
        expect(waves(turned)).toEqual(waves(steps));
      }),
    );
  });

  test("is that of the file, one after the other, when no step says what it needs", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 30 }), fc.boolean(), (length, explicit) => {
        const steps = Array.from({ length }, () => ({ ...WRITE, ...(explicit ? { needs: [] } : {}) }));
        const actor = parseToolActor({ ...MINIMAL, steps });
        expect(stepOrder(actor)).toEqual(actor.steps.map(({ id }) => [id]));
      }),
    );
  });

  test("lets steps that do not need each other run at the same time", () => {
    const steps = [
      { ...WRITE, id: "end", needs: ["a", "b"] },
      { ...WRITE, id: "b" },
      { ...WRITE, id: "a" },
    ];
    expect(stepOrder(parseToolActor({ ...MINIMAL, steps }))).toEqual([["b", "a"], ["end"]]);
  });
});

describe("the arguments of an action", () => {
  const params = {
    path: "docs/{file}.txt",
    lines: ["{who}", { deep: "{{not}} {file} { no } {1}" }],
    "{key}": 5,
    none: null,
  };
  const steps = [
    { ...WRITE, params },
    { ...WRITE, params: { text: "{who} {last-one}" } },
  ];

  test("are found anywhere in the texts of the parameters, each once", () => {
    expect(actorVariables(parseToolActor({ ...MINIMAL, steps }))).toEqual(["file", "who", "last-one"]);
    expect(actorVariables(parseToolActor(MINIMAL))).toEqual([]);
  });

  test("are filled into texts only, once", () => {
    const values = new Map([
      ["file", "{who}"],
      ["who", "you"],
    ]);
    expect(renderParams(params, values)).toEqual({
      path: "docs/{who}.txt",
      lines: ["you", { deep: "{not} {who} { no } {1}" }],
      "{key}": 5,
      none: null,
    });
    expect(params.path).toBe("docs/{file}.txt");
  });

  test("that make the parameters too long are refused before they take the memory", () => {
    const values = new Map([["a", "x".repeat(60_000)]]);
    const many = { list: Array.from({ length: 30_000 }, () => "{a}") };
    expect(() => renderParams(many, values)).toThrow(ValidationError);
    expect(() => renderParams({ one: "{a}{a}{a}{a}{a}" }, values)).toThrow("params.one is longer than");
    expect(renderParams({ list: many.list.slice(0, 17) }, values)["list"]).toHaveLength(17);
  });

  test("are exactly those that filling in asks for", () => {
    const texts = fc.stringMatching(/^([a-c{}]|\{[a-c]\}|\{\{[a-c]\}\})*$/);
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom("x", "y"), fc.oneof(texts, fc.array(texts))), (given) => {
        const actor = parseToolActor({ ...MINIMAL, steps: [{ ...WRITE, params: given }] });
        const asked = new Set<string>();
        const values = new Map<string, string>();
        values.get = (name) => {
          asked.add(name);
          return "";
        };
        renderParams(actor.steps[0]?.params ?? {}, values);
        expect(actorVariables(actor).sort()).toEqual([...asked].sort());
      }),
    );
  });
});

describe("hostile input", () => {
  test.each([
    ["name", (text: string) => ({ ...MINIMAL, name: text })],
    ["type", (text: string) => ({ ...MINIMAL, type: text })],
    ["step's id", (text: string) => ({ ...MINIMAL, steps: [{ ...WRITE, id: text }] })],
    ["tool", (text: string) => ({ ...MINIMAL, steps: [{ ...WRITE, tool: text }] })],
    ["need", (text: string) => ({ ...MINIMAL, steps: [{ ...WRITE, needs: [text] }] })],
    ["key", (text: string) => Object.fromEntries([...Object.entries(MINIMAL), [text, 1]])],
  ])("cannot be an actor's %s, and the error's message is fit to be shown", (_, input) => {
    withEveryHostileString((text) => {
      const error = refusalError(input(text));
      expect(error.message.length).toBeLessThan(2_000);
      // oxlint-disable-next-line no-control-regex -- control characters are exactly what must not be there
      expect(error.message).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/u);
    });
  });

  test("nothing but a ValidationError ever comes out", () => {
    const step = fc.dictionary(fc.constantFrom("id", "tool", "params", "needs", "x"), fc.anything());
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom(...Object.keys(MINIMAL), "x"), fc.oneof(fc.anything(), fc.array(step))),
        fc.dictionary(fc.string(), fc.anything()),
        (more, params) => {
          for (const input of [
            { ...MINIMAL, ...more },
            { ...MINIMAL, steps: [{ ...WRITE, params }] },
          ]) {
            try {
              parseToolActor(input);
            } catch (error) {
              expect(error).toBeInstanceOf(ValidationError);
            }
          }
        },
      ),
    );
  });
});

function nested(levels: number): unknown {
  return levels === 1 ? {} : { a: nested(levels - 1) };
}

function refusalError(input: unknown): ValidationError {
  try {
    parseToolActor(input);
  } catch (error) {
    expect(error).toBeInstanceOf(ValidationError);
    return error as ValidationError;
  }
  throw new Error("It was not refused.");
}

function paths(input: unknown): string[] {
  return refusalError(input).issues.map(({ path }) => path);
}
