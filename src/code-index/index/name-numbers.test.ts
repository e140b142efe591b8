import { expect, test } from "vitest";
import { seededRandom } from "../../testing/random.ts";
import { NameNumbers, ReceivedNames } from "./name-numbers.ts";

test("names arrive once each, whenever numbering begins again, and are the same on the other side", () => {
  const random = seededRandom(7);
  const numbers = new NameNumbers(50);
  const received = new ReceivedNames();
  const asked: string[] = [];
  for (let content = 0; content < 300; content += 1) {
    const names = Array.from({ length: 8 }, () => `näme${Math.floor(random() * 120)}`);
    const used = names.map((name) => numbers.of(name));
    const sent = numbers.send();
    expect(new Set(sent.names).size).toBe(sent.names.length);
    received.receive(sent);
    expect(used.map((number) => nameOf(number))).toEqual(names);
  }
  expect(asked.length).toBeGreaterThan(120);

  function nameOf(number: number): string {
    let name = ids.get(received.id(number, (one) => (asked.push(one), idOf(one))));
    return (name ??= "");
  }
});

const ids = new Map<number, string>();

function idOf(name: string): number {
  for (const [id, known] of ids) if (known === name) return id;
  ids.set(ids.size, name);
  return ids.size - 1;
}

test("a number that was never sent is an error", () => {
  const received = new ReceivedNames();
  received.receive({ from: 0, names: ["one"] });
  expect(() => received.id(1, () => 1)).toThrow("no name was sent with the number 1");
});
