import { globSync, rmSync } from "node:fs";
import { build } from "esbuild";

// One bundle with shared chunks: start-up is dominated by the number of files loaded, and heavy parts stay behind `import()`.
// What an earlier build left goes first; type declarations, which only a package needs, are not ours to remove.
for (const file of globSync("dist/*.{js,map,txt}")) rmSync(file);
await build({
  entryPoints: {
    index: "src/index.ts",
    cli: "src/cli/main.ts",
    "strategy-worker": "src/context/strategy-worker.ts",
    "index-worker": "src/code-index/index-worker.ts",
    "context-strategies": "src/context/strategies/worker-entry.ts",
  },
  outdir: "dist",
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node24",
  minifySyntax: true,
  sourcemap: true,
  legalComments: "linked",
  // Native code, found by its package; loaded by the first rewrite.
  external: ["@ast-grep/napi"],
  // Some dependencies are CommonJS and ask for Node's own modules by `require`.
  banner: {
    js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
  },
  logLevel: "warning",
});
