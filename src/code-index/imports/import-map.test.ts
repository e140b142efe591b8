import { describe, expect, test } from "vitest";
import { IndexedDirectory } from "../testing/indexed-directory.ts";

async function importsIn(files: Readonly<Record<string, string>>, from: string): Promise<string[]> {
  using directory = new IndexedDirectory(files);
  using index = await directory.open();
  const file = index.file("app", from);
  if (file === undefined) throw new Error(`${from} is not there`);
  const found = index.importsOf(file);
  for (const target of found) expect(index.importersOf(target)).toContainEqual(file);
  return found.map(({ path }) => path);
}

describe("TypeScript and JavaScript", () => {
  test("relative imports, with the extensions people leave out or change", async () => {
    const from = `
      import a from "./a.ts"; import b from "./b.js"; import c from "../c"; import d from "./d";
      export * from "./e.jsx"; import f from "./f"; const g = await import("./g.mjs"); import "./h.css";
      import self from "./from.ts"; import out from "../../../outside"; import fs from "node:fs"; import react from "react";
    `;
    const files = [
      "src/a.ts",
      "src/b.ts",
      "c.mts",
      "src/d/index.tsx",
      "src/e.tsx",
      "src/f.cjs",
      "src/g.mts",
      "src/h.css",
    ];
    const tree = { "src/from.ts": from, ...Object.fromEntries(files.map((path) => [path, `// ${path}`])) };
    expect(await importsIn(tree, "src/from.ts")).toEqual(files.toSorted());
  });

  test("paths of the nearest tsconfig.json, with comments and all", async () => {
    const tree = {
      "tsconfig.json": '{ "compilerOptions": { "paths": { "@/*": ["./wrong/*"] } } }',
      "app/tsconfig.json": `{
        // "paths": {}
        "compilerOptions": { "baseUrl": "./src", "paths": { "@/*": ["gen/*", "*"], "#lib": ["lib/index.ts"], /* */ }, },
      }`,
      "app/src/main.ts": 'import "@/util"; import "#lib"; import "plain/thing"; import "@/made";',
      "app/src/util.ts": "// util",
      "app/src/lib/index.ts": "// lib",
      "app/src/plain/thing.ts": "// thing",
      "app/src/gen/made.ts": "// made",
      "wrong/util.ts": "// wrong",
    };
    expect(await importsIn(tree, "app/src/main.ts")).toEqual([
      "app/src/gen/made.ts",
      "app/src/lib/index.ts",
      "app/src/plain/thing.ts",
      "app/src/util.ts",
    ]);
  });

  test("packages of the same tree by name, exports and imports", async () => {
    const tree = {
      "packages/core/package.json": JSON.stringify({
        name: "@shop/core",
        exports: { ".": { import: "./dist/index.js" }, "./deep/*": "./src/deep/*.ts" },
        imports: { "#inner": "./src/inner.ts" },
      }),
      "packages/core/src/index.ts": 'import "#inner";',
      "packages/core/src/inner.ts": "// inner",
      "packages/core/src/deep/one.ts": "// one",
      "packages/old/package.json": '{ "name": "old", "main": "lib/main.js" }',
      "packages/old/lib/main.js": "// main",
      "web/main.ts":
        'import "@shop/core"; import "@shop/core/deep/one"; import "old"; import "unknown"; import "@shop/core/none";',
    };
    expect(await importsIn(tree, "web/main.ts")).toEqual([
      "packages/core/src/deep/one.ts",
      "packages/core/src/index.ts",
      "packages/old/lib/main.js",
    ]);
    expect(await importsIn(tree, "packages/core/src/index.ts")).toEqual(["packages/core/src/inner.ts"]);
  });
});

test("Python", async () => {
  const tree = {
    "src/shop/__init__.py": "# shop",
    "src/shop/cart.py":
      "from . import price\nfrom .models import Item\nimport shop.util.text\nfrom ..outside import x\nimport os.path\n",
    "src/shop/price.py": "# price",
    "src/shop/models/__init__.py": "# models",
    "src/shop/util/__init__.py": "# util",
    "src/shop/util/text.py": "# text",
    "src/shop/os.py": "# not the one of the system",
    "tests/test_cart.py": "from shop.cart import Cart\nimport helper\n",
    "tests/helper.py": "# helper",
  };
  expect(await importsIn(tree, "src/shop/cart.py")).toEqual([
    "src/shop/models/__init__.py",
    "src/shop/price.py",
    "src/shop/util/text.py",
  ]);
  expect(await importsIn(tree, "tests/test_cart.py")).toEqual(["src/shop/cart.py", "tests/helper.py"]);
});

test("Go", async () => {
  const tree = {
    "go.mod": "module example.org/shop\n\ngo 1.24\n",
    "main.go":
      'package main\n\nimport (\n\t"fmt"\n\t"example.org/shop/cart"\n\tx "example.org/shop/tools/gen"\n\t"example.org/shopping"\n)\n',
    "cart/cart.go": "package cart\n",
    "cart/price.go": "package cart\n",
    "cart/cart_test.go": "package cart\n",
    "tools/go.mod": "module example.org/shop/tools\n",
    "tools/gen/gen.go": "package gen\n",
  };
  expect(await importsIn(tree, "main.go")).toEqual(["cart/cart.go", "cart/price.go", "tools/gen/gen.go"]);
});

test("Rust", async () => {
  const tree = {
    "Cargo.toml": '[workspace]\nmembers = ["app", "my-core"]\n',
    "app/Cargo.toml": '[package]\nname = "app"\n',
    "app/src/main.rs": "mod cart;\nuse crate::cart::price::Price;\nuse my_core::store::Store;\nuse std::fmt;\n",
    "app/src/cart.rs": "mod price;\nuse super::other;\n",
    "app/src/cart/price.rs": "use super::Cart;\nuse self::inner::X;\n",
    "app/src/other.rs": "// other",
    "my-core/Cargo.toml": '[package]\nname = "my-core"\n',
    "my-core/src/lib.rs": "pub mod store;\n",
    "my-core/src/store/mod.rs": "// store",
  };
  expect(await importsIn(tree, "app/src/main.rs")).toEqual([
    "app/src/cart.rs",
    "app/src/cart/price.rs",
    "my-core/src/store/mod.rs",
  ]);
  expect(await importsIn(tree, "app/src/cart.rs")).toEqual(["app/src/cart/price.rs", "app/src/other.rs"]);
  expect(await importsIn(tree, "app/src/cart/price.rs")).toEqual(["app/src/cart.rs"]);
});

test("Java", async () => {
  const tree = {
    "app/src/main/java/org/shop/Main.java":
      "package org.shop;\nimport org.shop.cart.Cart;\nimport static org.shop.Util.join;\nimport org.shop.model.*;\nimport java.util.List;\nclass Main {}\n",
    "app/src/main/java/org/shop/cart/Cart.java": "package org.shop.cart;\n",
    "app/src/main/java/org/shop/Util.java": "package org.shop;\n",
    "lib/src/org/shop/model/A.java": "package org.shop.model;\n",
    "lib/src/org/shop/model/B.java": "package org.shop.model;\n",
  };
  expect(await importsIn(tree, "app/src/main/java/org/shop/Main.java")).toEqual([
    "app/src/main/java/org/shop/Util.java",
    "app/src/main/java/org/shop/cart/Cart.java",
    "lib/src/org/shop/model/A.java",
    "lib/src/org/shop/model/B.java",
  ]);
});

test("C and C++", async () => {
  const tree = {
    "src/main.cpp":
      '#include "cart.h"\n#include "../lib/util.h"\n#include "shop/price.hpp"\n#include <vector>\n#include <shop/tax.h>\n',
    "src/cart.h": "// cart",
    "lib/util.h": "// util",
    "include/shop/price.hpp": "// price",
    "include/shop/tax.h": "// tax",
    "third/vector": "// not the one of the system",
  };
  expect(await importsIn(tree, "src/main.cpp")).toEqual([
    "include/shop/price.hpp",
    "include/shop/tax.h",
    "lib/util.h",
    "src/cart.h",
  ]);
});

test("Markdown", async () => {
  const tree = {
    "docs/guide.md":
      "# Guide\n\n[a](./a.md#part) [b](../README.md) [c](sub) [d](with%20space.md) [e](https://x.org/a.md) ![g](logo.svg)\n",
    "docs/a.md": "# a",
    "README.md": "# readme",
    "docs/sub/README.md": "# sub",
    "docs/with space.md": "# space",
  };
  expect(await importsIn(tree, "docs/guide.md")).toEqual([
    "README.md",
    "docs/a.md",
    "docs/sub/README.md",
    "docs/with space.md",
  ]);
});
