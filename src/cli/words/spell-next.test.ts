import { describe, expect, test } from "vitest";
import { nextStep, withValue } from "../../domain/errors/next-step.ts";
import { COMMANDS } from "./command-table.ts";
import { spellNext } from "./spell-next.ts";

describe("a next step is spelled as the command a user types", () => {
  test.each([
    [nextStep("plan.resume", { plan: "01JZ" }), "agents plan resume 01JZ"],
    [nextStep("context.breakers.reset", { strategy: "code-graph" }), "agents context breakers reset code-graph"],
    [nextStep("plan.execute", { plan: "01JZ", verify: false }), "agents plan execute 01JZ --no-verify"],
    [nextStep("plan.apply", { allowEmpty: true, plan: "01JZ" }), "agents plan apply 01JZ --allow-empty"],
    [nextStep("plan.revert", { plan: "01JZ" }, "then"), "then: agents plan revert 01JZ"],
    [nextStep("plan.use", { action: "fix", projects: ["a", "b"] }), "agents plan use fix a b"],
    [nextStep("config.get", { key: "budget.per-plan", verbose: true }), "agents config get budget.per-plan --verbose"],
    [{ text: "git rebase --continue" }, "git rebase --continue"],
  ])("%j", (step, command) => {
    expect(spellNext(step)).toBe(command);
  });

  test("a placeholder stays in angle brackets, in quotes where it stands for prose", () => {
    expect(spellNext(nextStep("plan.use", { action: "fix", projects: ["<project>"] }))).toBe(
      "agents plan use fix <project>",
    );
    expect(spellNext(nextStep("plan.prompt", { plan: "01JZ", text: "<guidance>" }))).toBe(
      'agents plan prompt 01JZ "<guidance>"',
    );
    expect(spellNext(nextStep("run", { request: "<request>", project: "shop" }))).toBe(
      'agents run --project shop "<request>"',
    );
    expect(spellNext(nextStep("project.context.inspect", { project: "shop", query: "<question>" }))).toBe(
      'agents project context inspect shop --query "<question>"',
    );
  });

  test("a value is quoted so that a shell reads it back as it is", () => {
    const step = nextStep("plan.use", { action: "fix", projects: ["shop"], arguments: { why: "it's late", n: "2" } });
    expect(spellNext(step)).toBe(String.raw`agents plan use fix shop --arg 'why=it'\''s late' --arg n=2`);
  });

  test("a placeholder can be filled in", () => {
    const raise = nextStep("config.set", { key: "budget.per-day", value: "<dollars>" });
    expect(spellNext(withValue(raise, "<dollars>", "none"))).toBe("agents config set budget.per-day none");
    expect(withValue({ text: "BUDGET=<dollars>" }, "<dollars>", "none")).toEqual({ text: "BUDGET=none" });
  });
});

test("every command of the table can be spelled", () => {
  for (const { path } of COMMANDS) expect(spellNext(nextStep(path.replaceAll(" ", ".")))).toBe(`agents ${path}`);
});
