import { globSync, rmSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";
import { build, type BuildOptions, type Plugin } from "esbuild";
import { TOKENIZERS } from "../src/context/model/context-model.ts";
import { PACKED_TOKENIZERS, publishedTokenizer, vocabularyFile } from "../src/context/tokens/tokenizer.ts";
import { bundledPackages, COPIED, noticesOf } from "./third-party-notices.ts";
import { Vocabulary } from "../src/context/tokens/vocabulary.ts";
import { HELP_COLUMNS } from "../src/cli/words/quick-answer.ts";
import { COMMANDS, GROUPS, SUBGROUPS } from "../src/cli/words/command-table.ts";
import { buildProgram } from "../src/cli/words/program.ts";
import * as definitions from "../src/definitions.ts";
import * as index from "../src/index.ts";
import * as primitives from "../src/primitives.ts";

// Source maps, two thirds of everything, only for a developer who asks for them: `node scripts/build.ts --maps`.
const { maps, out } = parseArgs({
  options: { maps: { type: "boolean", default: false }, out: { type: "string", default: "dist" } },
}).values;

// Start-up is dominated by the number of files loaded, so all of our own code is one file for each entry point; what is
// behind `import()` lies in it too, and runs when it is first asked for. Measured beside shared chunks: commands that
// use the store start in 0.75 to 0.87 of the time, `--help` in the same. Line breaks are left out because a file is
// read and hashed whole. Local names are shortened, which takes 1.2 MB off the package; functions and classes keep the
// names by which errors and stacks show them.
const options = {
  bundle: true,
  format: "esm",
  platform: "node",
  target: "node24",
  minifySyntax: true,
  minifyWhitespace: true,
  sourcemap: maps,
  legalComments: "linked",
  metafile: true,
  // Some dependencies are CommonJS and ask for Node's own modules by `require`.
  banner: {
    js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
  },
  logLevel: "warning",
} satisfies BuildOptions;

/** Large, and loaded by few commands, all of them through `import()`: each has a file to itself. */
const HEAVY = [
  "@agentclientprotocol/sdk",
  "ai",
  "@ai-sdk/anthropic",
  "@ai-sdk/google",
  "@ai-sdk/openai",
  "@ai-sdk/openai-compatible",
  "@modelcontextprotocol/client",
  "@modelcontextprotocol/server",
  "@modelcontextprotocol/server/stdio",
  "html-to-text",
  "pg",
  "undici",
];

/**
 * The clouds' SDKs bring other versions of packages that are bundled already. They stay packages of their own, which
 * only a model of that cloud loads.
 */
const CLOUDS = ["@ai-sdk/amazon-bedrock", "@ai-sdk/azure", "@ai-sdk/google-vertex"];

const heavyApart: Plugin = {
  name: "heavy-apart",
  setup(bundle) {
    bundle.onResolve({ filter: new RegExp(`^(${HEAVY.join("|")})$`) }, ({ path, kind, importer }) => {
      if (kind !== "dynamic-import") throw new Error(`${importer} must import ${path} by import()`);
      return { path: `./${fileOf(path)}.js`, external: true };
    });
  },
};

/** Messages of zod in 50 languages; we and the SDKs use English. */
const englishOnly: Plugin = {
  name: "english-only",
  setup(bundle) {
    bundle.onLoad({ filter: /\/zod\/v4\/locales\/index\.js$/ }, () => ({
      contents: 'export { default as en } from "./en.js";',
    }));
  },
};

/** Of undici only these two; its index loads everything. */
const patientParts: Plugin = {
  name: "patient-parts",
  setup(bundle) {
    bundle.onLoad({ filter: /\/undici\/index\.js$/ }, () => ({
      contents:
        'module.exports = { Agent: require("./lib/dispatcher/agent"), fetch: require("./lib/web/fetch").fetch };',
    }));
  },
};

/**
 * The MCP packages check schemas by ajv on Node, which makes code of a schema that a server sent. For other platforms
 * they bring a validator that only reads the schema; it also takes 0.3 MB less.
 */
const readingValidator: Plugin = {
  name: "reading-validator",
  setup(bundle) {
    bundle.onResolve({ filter: /^@modelcontextprotocol\/(client|server)\/_shims$/ }, ({ path }) => ({
      path: resolve("node_modules", path.replace("_shims", "dist/shimsWorkerd.mjs")),
    }));
  },
};

function fileOf(name: string): string {
  return name.replace("@", "").replaceAll("/", "-");
}

// The files of an earlier build go first; type declarations, which only a package needs, are not ours to remove.
for (const file of globSync(`${out}/*.{cjs,js,json,map,txt,vocabulary}`)) rmSync(file);
const heavy = await build({
  ...options,
  // No one debugs these here: shorter names take 0.8 MB off the package.
  minifyIdentifiers: true,
  outdir: out,
  entryPoints: Object.fromEntries(HEAVY.map((name) => [fileOf(name), name])),
  splitting: true,
  plugins: [englishOnly, patientParts, readingValidator],
});
const own = {
  ...options,
  minifyIdentifiers: true,
  keepNames: true,
  plugins: [heavyApart],
  // Native code, found by its package; loaded by the first rewrite.
  external: ["@ast-grep/napi", ...CLOUDS],
} satisfies BuildOptions;
// The doors of the package share one file, so that an error of one door is an instance of the class that another
// exports. Each door is a list of names in it. (With shared chunks they were 370 files.)
const DOORS = { index, primitives, definitions };
const library = await build({
  ...own,
  stdin: {
    contents: Object.keys(DOORS)
      .map((door) => `export * from "./src/${door}.ts";`)
      .join("\n"),
    resolveDir: ".",
    loader: "ts",
  },
  outfile: `${out}/library.js`,
});
for (const [door, module] of Object.entries(DOORS))
  writeFileSync(`${out}/${door}.js`, `export { ${Object.keys(module).join(", ")} } from "./library.js";\n`);
/** The first file of the program answers what needs nothing else; the whole program is a file beside it. */
const wholeApart: Plugin = {
  name: "whole-apart",
  setup(bundle) {
    bundle.onResolve({ filter: /\/whole-program\.ts$/ }, ({ kind }) =>
      kind === "dynamic-import" ? { path: "./cli.cjs", external: true } : undefined,
    );
  },
};
// The program that Node starts is CommonJS, for which Node need not make its ESM loader ready: `agents version` takes
// 0.8 of the time.
const programs = {
  ...own,
  outdir: out,
  format: "cjs",
  outExtension: { ".js": ".cjs" },
  define: { "import.meta.url": "__moduleUrl" },
  banner: { js: 'const __moduleUrl = require("node:url").pathToFileURL(__filename).href;' },
} satisfies BuildOptions;
const program = await build({
  ...programs,
  entryPoints: {
    cli: "src/whole-program.ts",
    "strategy-worker": "src/context/executor/strategy-worker.ts",
    "index-worker": "src/code-index/sync/index-worker.ts",
    "context-strategies": "src/context/strategies/worker-entry.ts",
  },
});
await build({
  ...programs,
  entryPoints: { agents: "src/agents-program.ts" },
  plugins: [wholeApart],
  // Node's own `import()` reads the whole program once more to find its exports, which takes 10 ms.
  supported: { "dynamic-import": false },
});
writeFileSync(`${out}/help.json`, JSON.stringify(helpPages()));
for (const name of TOKENIZERS) {
  const bytes = Vocabulary.of(publishedTokenizer(name)).toFile();
  const packed = PACKED_TOKENIZERS.includes(name) ? gzipSync(bytes, { level: 9 }) : bytes;
  writeFileSync(`${out}/${vocabularyFile(name)}`, packed);
}
/** Every page of help, by the words before `--help`. */
function helpPages(): Record<string, string> {
  const paths = ["", ...Object.keys(GROUPS), ...Object.keys(SUBGROUPS), ...COMMANDS.map(({ path }) => path)];
  return Object.fromEntries(
    paths.map((path) => {
      const printed: string[] = [];
      const words = path.split(" ").filter((word) => word !== "");
      buildProgram((text) => printed.push(text), HELP_COLUMNS).parse([...words, "--help"]);
      return [path, printed.join("")];
    }),
  );
}

const metafiles = [heavy, library, program].map(({ metafile }) => metafile);
// The vocabularies are data of this one.
writeFileSync(
  `${out}/THIRD-PARTY-NOTICES.txt`,
  noticesOf([...bundledPackages(metafiles, ["node_modules/gpt-tokenizer"]), ...COPIED]),
);
