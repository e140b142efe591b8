import { expect, test } from "vitest";
import type { PlanId } from "../domain/names/ids.ts";
import { commitMessage } from "./commit-message.ts";

const id = "01JABCDEFGHJKMNPQRSTVWXYZ0" as PlanId;
const subject = (description: string): string | undefined => commitMessage({ id, description }).split("\n")[0];

test("the subject is the first line, at most 72 characters of it; the trailer says which plan it was", () => {
  expect(commitMessage({ id, description: "  Fix it \nand more\n" })).toBe(`Fix it\n\nCleverAgents-Plan: ${id}\n`);
  expect(subject("a\r\nb")).toBe("a");
  expect(subject("x".repeat(72))).toBe("x".repeat(72));
  expect(subject("x".repeat(73))).toBe(`${"x".repeat(71)}…`);
  expect(subject(`${"x".repeat(70)} yyy`)).toBe(`${"x".repeat(70)}…`);
  expect(subject("👩‍👩‍👧".repeat(80))).toBe(`${"👩‍👩‍👧".repeat(71)}…`);
});
