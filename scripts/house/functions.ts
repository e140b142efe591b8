/**
 * How long functions are, by the parser of our linter: declarations, methods, arrow functions and function expressions,
 * from their first line to their last. A `describe` only groups tests and is not measured, and the tests inside of a
 * function do not count for it, because each is a function of its own.
 */
import { parseSync, Visitor, type CallExpression, type Expression, type Function, type Node } from "oxc-parser";
import type { SourceFile } from "./source-files.ts";

export interface MeasuredFunction {
  readonly path: string;
  readonly line: number;
  readonly lines: number;
}

interface Span {
  readonly start: number;
  readonly end: number;
}

export function functionsOf({ path, text }: SourceFile): MeasuredFunction[] {
  const { program, errors } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`${path}: ${errors[0]?.message}`);
  const functions: Span[] = [];
  const bodies: Span[] = [];
  const groups = new Set<number>();
  const see = (node: Function | Extract<Node, { type: "ArrowFunctionExpression" }>): void => void functions.push(node);
  new Visitor({
    FunctionDeclaration: see,
    FunctionExpression: see,
    ArrowFunctionExpression: see,
    CallExpression: (call) => {
      const name = calledName(call);
      if (name !== "test" && name !== "describe") return;
      for (const argument of call.arguments)
        if (argument.type === "ArrowFunctionExpression") {
          bodies.push(argument);
          if (name === "describe") groups.add(argument.start);
        }
    },
  }).visit(program);
  const lineAt = linesOf(text);
  const linesIn = ({ start, end }: Span): number => lineAt(end) - lineAt(start) + 1;
  return functions
    .filter(({ start }) => !groups.has(start))
    .map((span) => {
      const tests = outermost(bodies.filter((body) => contains(span, body)));
      return { path, line: lineAt(span.start), lines: tests.reduce((sum, test) => sum - linesIn(test), linesIn(span)) };
    });
}

/** `test` of `test("…", …)`, `test.each([…])("…", …)` and `test.skipIf(…)("…", …)`. */
function calledName(call: CallExpression): string {
  let callee: Expression = call.callee;
  while (callee.type === "MemberExpression" || callee.type === "CallExpression")
    callee = callee.type === "MemberExpression" ? callee.object : callee.callee;
  return callee.type === "Identifier" ? callee.name : "";
}

function contains(outer: Span, inner: Span): boolean {
  return outer.start <= inner.start && inner.end <= outer.end && outer.end - outer.start > inner.end - inner.start;
}

function outermost<T extends Span>(spans: readonly T[]): T[] {
  return spans.filter((span) => !spans.some((other) => contains(other, span)));
}

/** The line of a position, from 1. */
function linesOf(text: string): (position: number) => number {
  const starts = [0, ...Array.from(text.matchAll(/\n/g), ({ index }) => index + 1)];
  return (position) => {
    let [low, high] = [0, starts.length];
    while (low < high - 1) {
      const middle = (low + high) >> 1;
      if ((starts[middle] ?? 0) <= position) low = middle;
      else high = middle;
    }
    return low + 1;
  };
}
