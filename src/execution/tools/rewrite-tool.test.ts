/** Structural rewriting: holes are filled, nothing else is touched, and what does not fit changes nothing. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ValidationError } from "../../domain/errors/errors.ts";
import { ExecutingPlan, type OpenWorkspace } from "../testing/executing-plan.ts";
import { UserRepository } from "../testing/user-repository.ts";
import { rewriter, type RewriteLanguage } from "./structural-rewrite.ts";

describe("one text", () => {
  const rewrite = async (language: RewriteLanguage, pattern: string, into: string, text: string): Promise<unknown> =>
    (await rewriter(language, pattern, into))(text, "file");

  test.each([
    ["TypeScript", "foo($A)", "bar($A)", "é🦑; foo(x); foo(1, 2)", "é🦑; bar(x); foo(1, 2)", 1],
    ["TypeScript", "foo($A)", "bar($A)", "foo(foo(foo(1)))", "bar(bar(bar(1)))", 3],
    ["TypeScript", "foo($A, $B)", "foo($B, $A)", "foo(1, foo(2, 3))", "foo(foo(3, 2), 1)", 2],
    ["TypeScript", "f($$$ARGS)", "g({ $$$ARGS })", "f(a,  /* c */ b); f()", "g({ a,  /* c */ b }); g({  })", 2],
    ["TypeScript", "$A && $A()", "$A?.()", "x && x(); y && z();", "x?.(); y && z();", 1],
    ["TypeScript", "$A.x", "$A.y", "a.x.x", "a.y.y", 2],
    ["TypeScript", "drop($A)", "", "drop(drop(1));", ";", 1],
    ["JavaScript", "var $A = $B", "const $A = $B", "var x = 1; var y = '';", "const x = 1; const y = '';", 2],
    ["JavaScript", "f($A);", "g($A);", "f(1); f(2)", "g(1); f(2)", 1],
    ["JavaScript", "f()", "'$&' + `$a ${$1}`", "f()", "'$&' + `$a ${$1}`", 1],
    ["TSX", "<Foo $$$P/>", "<Bar $$$P/>", "const x = <Foo a={1} b/>;", "const x = <Bar a={1} b/>;", 1],
    ["HTML", "<b>$$$A</b>", "<i>$$$A</i>", "<p><b>hi <b>x</b></b></p>", "<p><i>hi <i>x</i></i></p>", 2],
    ["CSS", "a { color: $C; }", "b { color: $C; }", "a { color: red; }", "b { color: red; }", 1],
    ["TypeScript", "foo($A)", "bar($A)", "\uFEFFfoo(1)\r\n", "\uFEFFbar(1)\r\n", 1],
    ["TypeScript", "foo($A)", "bar($A)", "foo(1); if (", "bar(1); if (", 1],
  ] as const)("%s: %s → %s", async (language, pattern, into, text, expected, replacements) => {
    expect(await rewrite(language, pattern, into, text)).toEqual({ text: expected, replacements, partial: [] });
  });

  test("without a match is left alone", async () => {
    expect(await rewrite("TypeScript", "foo($A)", "bar($A)", "foo(1, 2); // foo(3)")).toBeUndefined();
  });

  test.each([
    ["foo(", "x", "does not parse as TypeScript"],
    ["foo(;", "x", "does not parse as TypeScript"],
    ["foo($A) bar", "x", "does not parse as TypeScript"],
    ["a; b", "x", "does not parse as one piece of TypeScript"],
    ["  ", "x", "does not parse as one piece of TypeScript"],
    ["foo($A)", "bar($B)", "The rewrite uses $B, which the pattern does not have."],
    ["foo($A)", "bar($A", 'would leave "file" as something that is not TypeScript'],
  ])("%j → %j is refused", async (pattern, into, message) => {
    await expect(rewrite("TypeScript", pattern, into, "foo(1); a; b")).rejects.toMatchObject({
      code: "tool_failed",
      message: expect.stringContaining(message),
    });
  });
});

describe("the files of a sandbox", () => {
  let plan: ExecutingPlan;
  let open: OpenWorkspace;
  beforeAll(async () => {
    const user = await UserRepository.make({
      ".gitignore": "ignored/\n",
      "a.ts": "foo(1);\nfoo(foo(2));\n",
      "src/b.ts": "foo('ü');\r\n",
      "src/c.mts": "export const no = 1;\n",
      "src/d.js": "foo(3);\n",
      "src/named.txt": "foo(4);\n",
      "src/binary.ts": Buffer.from("foo(1);\0"),
      "src/latin1.ts": Buffer.from("foo('\u00e9');", "latin1"),
      "src/link.ts": { link: "b.ts" },
      "src/run.ts": { executable: "foo(5);\n" },
    });
    plan = await ExecutingPlan.start({ user });
    open = await plan.open();
    await open.call("shell_execute", { command: "mkdir ignored; echo 'foo(1)' > ignored/x.ts" });
  });
  afterAll(() => plan[Symbol.asyncDispose]());

  test("are searched by directory and language, or by name; changes are recorded, modes kept", async () => {
    const call = { language: "typescript", pattern: "foo($A)", rewrite: "bar($A)" };
    expect(await open.call("rewrite_code", { ...call, paths: ["src"] })).toEqual({
      language: "TypeScript",
      replacements: 2,
      files: [
        { path: "src/b.ts", replacements: 1 },
        { path: "src/run.ts", replacements: 1 },
      ],
      message: "2 replaced in 2 of 6 files.",
    });
    expect(await open.call("rewrite_code", { ...call, paths: ["src/named.txt"] })).toMatchObject({ replacements: 1 });
    expect(await open.call("rewrite_code", call)).toMatchObject({ files: [{ path: "a.ts", replacements: 3 }] });
    expect(await open.call("rewrite_code", { ...call, paths: ["."] })).toEqual({
      language: "TypeScript",
      replacements: 0,
      files: [],
      message: "Nothing was replaced in 7 files.",
    });
    expect((await open.entries()).map(({ path, operation }) => [path, operation])).toEqual([
      ["src/b.ts", "modify"],
      ["src/run.ts", "modify"],
      ["src/named.txt", "modify"],
      ["a.ts", "modify"],
    ]);
    expect(await plan.replayed(await open.entries())).toEqual(
      new Map([...(await plan.tree())].filter(([path]) => !path.startsWith("ignored"))),
    );
    expect(await open.call("read_file", { path: "src/b.ts" })).toMatchObject({ content: "bar('ü');\r\n" });
  });

  test("keep what fits only in part, and the answer names the place", async () => {
    await open.call("write_file", { path: "part/a.js", content: "x;\nvar a = 1, b = 2;\nvar c = 3;\n" });
    await open.call("write_file", { path: "part/b.js", content: "var a = 1, b = 2;\n" });
    const call = { language: "JavaScript", pattern: "var $A = $B", rewrite: "let $A = $B", paths: ["part"] };
    expect(await open.call("rewrite_code", call)).toEqual({
      language: "JavaScript",
      replacements: 1,
      files: [{ path: "part/a.js", replacements: 1 }],
      partial: [
        { path: "part/a.js", lines: [2] },
        { path: "part/b.js", lines: [1] },
      ],
      message:
        "1 replaced in 1 of 2 files. Left as they were: 2 places that fit the pattern only in part, the first at part/a.js:2. Write all of such a place into the pattern, or change it by hand.",
    });
    expect(await open.call("read_file", { path: "part/a.js" })).toMatchObject({
      content: "x;\nvar a = 1, b = 2;\nlet c = 3;\n",
    });
    for (const path of ["part/a.js", "part/b.js"]) await open.call("delete_file", { path });
  });

  test("stay as they are when one of them does not fit, or the words are wrong", async () => {
    const before = await plan.tree();
    const refuse = (params: object): Promise<unknown> =>
      open
        .call("rewrite_code", { language: "JavaScript", pattern: "foo($A)", rewrite: "x", ...params })
        .catch((error: unknown) => error);
    await open.call("write_file", { path: "src/e.js", content: "async () => { foo(1) }" });
    expect(await refuse({ pattern: "foo($A)", rewrite: "}{" })).toMatchObject({ kept: "Nothing was changed." });
    expect(await refuse({ paths: ["src/none.js"] })).toMatchObject({ message: 'There is no file "src/none.js".' });
    expect(await refuse({ paths: ["../x"] })).toMatchObject({ code: "contained" });
    expect(await refuse({ paths: ["ignored"] })).toMatchObject({ message: 'There is no file "ignored".' });
    expect(await refuse({ paths: [] })).toBeInstanceOf(ValidationError);
    const unknown = await refuse({ language: "Python" });
    expect(unknown).toBeInstanceOf(ValidationError);
    expect(unknown).toMatchObject({
      message: expect.stringContaining(
        '"Python" cannot be rewritten; there are JavaScript, TypeScript, TSX, HTML, CSS',
      ),
    });
    await open.call("delete_file", { path: "src/e.js" });
    expect(await plan.tree()).toEqual(before);
  });
});
