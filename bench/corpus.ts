/**
 * Real code to measure context assembly on: packages whose sources are in what the registry holds, pinned by the hash
 * of their bytes, and for each some questions a person wrote down together with the files an answer needs. Fetched once
 * into bench/corpus, without their dependencies; nothing of them is ever run.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Question, Source } from "../src/context/testing/answer-sets.ts";
import type { BenchSize } from "./measure.ts";

const CORPUS = join(import.meta.dirname, "corpus");

/** Code that questions are asked about. */
export interface Corpus {
  readonly name: string;
  readonly version: string;
  readonly questions: readonly Question[];
  /** Fetched if they are not there yet. */
  readonly sources: () => readonly Source[];
}

/** The packages; for a smoke test a room of our own, because nothing may be fetched then. */
export function corpora(size: BenchSize): readonly Corpus[] {
  if (size === "smoke") return [OWN_CODE];
  return PACKAGES.map((one) => ({ ...one, sources: () => sourcesOf(one) }));
}

const OWN_CODE: Corpus = {
  name: "code-index",
  version: "of this checkout",
  questions: [written("How are files looked at again after a change?", ["sync/file-probe.ts"])],
  sources: () => sourcesIn(join(import.meta.dirname, "..", "src", "code-index"), "**/*.ts", ["testing"]),
};

interface CorpusPackage {
  readonly name: string;
  readonly version: string;
  readonly integrity: string;
  /** Which part of the package is its source, and which files there. */
  readonly root: string;
  readonly pattern: string;
  readonly leaveOut: readonly string[];
  readonly questions: readonly Question[];
}

const PACKAGES: readonly CorpusPackage[] = [
  {
    name: "viem",
    version: "2.57.13",
    integrity: "sha512-hSIsR4Y47BKrp89idH11WC3pqYOJFq9nVYBYxuJ9zXCA8Qg3pQhnlhnHn4qnjo7Z5wXs920XhtWbnrAtFidk+Q==",
    root: "",
    pattern: "**/*.ts",
    leaveOut: ["_cjs", "_esm", "_types"],
    questions: [
      written("How is an offchain lookup (CCIP read) resolved during a call?", [
        "utils/ccip.ts",
        "errors/ccip.ts",
        "actions/public/call.ts",
      ]),
      written("Where does the client retry failed JSON-RPC requests, and how long does it wait?", [
        "utils/buildRequest.ts",
        "utils/promise/withRetry.ts",
        "utils/wait.ts",
      ]),
      written("How does the fallback transport rank other transports by latency?", [
        "clients/transports/fallback.ts",
        "clients/transports/createTransport.ts",
        "utils/wait.ts",
      ]),
      written("How are nonces handed out when several transactions are sent at once?", [
        "utils/nonceManager.ts",
        "actions/public/getTransactionCount.ts",
        "actions/wallet/prepareTransactionRequest.ts",
      ]),
      written("How is a Sign-In with Ethereum message parsed and validated?", [
        "utils/siwe/parseSiweMessage.ts",
        "utils/siwe/validateSiweMessage.ts",
        "actions/siwe/verifySiweMessage.ts",
      ]),
      written("Where does polling for new block numbers happen and how are subscribers shared?", [
        "actions/public/watchBlockNumber.ts",
        "utils/poll.ts",
        "utils/observe.ts",
      ]),
      written("How is an ENS name normalised and turned into a namehash before it is resolved?", [
        "utils/ens/normalize.ts",
        "utils/ens/namehash.ts",
        "actions/ens/getEnsAddress.ts",
      ]),
    ],
  },
  {
    name: "matrix-js-sdk",
    version: "43.0.0",
    integrity: "sha512-d2w/VPJoMgE9g015sAsHFqODe+B7KJ8zdm077i8luKTwG4PQrchCd74r65IiPqR5t97ZYz/8FZyujvamgB/7qQ==",
    root: "src",
    pattern: "**/*.ts",
    leaveOut: [],
    questions: [
      written("How is an expired access token refreshed when a request is refused?", [
        "http-api/refresh.ts",
        "http-api/fetch.ts",
        "oauth/tokenRefresher.ts",
      ]),
      written("How does sign in with a QR code open its secure channel?", [
        "rendezvous/MSC4108SignInWithQR.ts",
        "rendezvous/channels/MSC4108SecureChannel.ts",
        "rendezvous/transports/MSC4108RendezvousSession.ts",
      ]),
      written("Where are room keys restored from the key backup?", [
        "rust-crypto/backup.ts",
        "rust-crypto/PerSessionKeyBackupDownloader.ts",
        "rust-crypto/rust-crypto.ts",
      ]),
      written("How does the IndexedDB store talk to its worker?", [
        "store/indexeddb.ts",
        "store/indexeddb-remote-backend.ts",
        "store/indexeddb-store-worker.ts",
      ]),
      written("How are push rules evaluated for an event?", ["pushprocessor.ts", "@types/PushRules.ts"]),
      written("How do members of a MatrixRTC session keep their membership from expiring?", [
        "matrixrtc/MembershipManager.ts",
        "matrixrtc/MembershipManagerActionScheduler.ts",
        "matrixrtc/CallMembership.ts",
      ]),
      written("How are to-device messages queued and sent again after an error?", [
        "ToDeviceMessageQueue.ts",
        "scheduler.ts",
        "models/ToDeviceMessage.ts",
      ]),
    ],
  },
  {
    name: "zod",
    version: "4.6.7",
    integrity: "sha512-g8W2D2kU6a8untc053fX1uVBKzM7yqAxW/3zwk83+6RyF2+SKOuV+c0wBDhUwzV1PaGapmZH+rmcUzPf+3CGwg==",
    root: "src",
    pattern: "**/*.ts",
    leaveOut: [],
    questions: [
      written("How is a schema turned into JSON Schema, with its definitions extracted?", [
        "v4/core/to-json-schema.ts",
        "v4/core/json-schema-processors.ts",
        "v4/core/json-schema-generator.ts",
        "v4/classic/tests/to-json-schema.test.ts",
      ]),
      written("How are errors flattened, made a tree, or printed for people?", [
        "v4/core/errors.ts",
        "v4/classic/tests/error-utils.test.ts",
      ]),
      written("Where does a registry keep the metadata of schemas?", [
        "v4/core/registries.ts",
        "v4/classic/tests/registries.test.ts",
      ]),
      written("How does a discriminated union pick its option?", [
        "v4/core/schemas.ts",
        "v4/classic/tests/discriminated-unions.test.ts",
      ]),
      written("How does deepPartial make nested objects optional in classic and mini?", [
        "v4/classic/deep-partial.ts",
        "v4/mini/deep-partial.ts",
        "v4/classic/tests/deep-partial.test.ts",
      ]),
    ],
  },
  {
    name: "node-gyp",
    version: "13.1.0",
    integrity: "sha512-FpNzOLFACKG0oRBYbZ5WOeWD1EqRTIWX90MaRIWTO18lVYPx8fqIjrdS3pihjnCkSmgop6zVGkSqg1vXZLksuw==",
    root: "gyp",
    pattern: "**/*.py",
    leaveOut: [],
    questions: [
      written("How are cycles between dependencies of targets found?", [
        "pylib/gyp/input.py",
        "pylib/gyp/input_test.py",
        "pylib/gyp/common.py",
      ]),
      written("Where are Visual Studio project files written as XML?", [
        "pylib/gyp/easy_xml.py",
        "pylib/gyp/MSVSProject.py",
        "pylib/gyp/generator/msvs.py",
      ]),
      written("Which tags does a platform with musl or manylinux support?", [
        "pylib/packaging/tags.py",
        "pylib/packaging/_musllinux.py",
        "pylib/packaging/_manylinux.py",
      ]),
      written("How does the ninja generator write build rules and pools?", [
        "pylib/gyp/generator/ninja.py",
        "pylib/gyp/ninja_syntax.py",
        "pylib/gyp/generator/ninja_test.py",
      ]),
      written("How is a requirement string with markers and version specifiers parsed?", [
        "pylib/packaging/requirements.py",
        "pylib/packaging/_parser.py",
        "pylib/packaging/markers.py",
        "pylib/packaging/specifiers.py",
      ]),
    ],
  },
];

function sourcesOf(wanted: CorpusPackage): readonly Source[] {
  const sources = sourcesIn(fetched(wanted), wanted.pattern, wanted.leaveOut);
  const known = new Set(sources.map(({ path }) => path));
  const missing = wanted.questions.flatMap(({ files }) => files).filter((file) => !known.has(file));
  if (missing.length > 0) throw new Error(`${wanted.name} has no ${missing.join(", ")}`);
  return sources;
}

export function sourcesIn(directory: string, pattern: string, leaveOut: readonly string[]): readonly Source[] {
  return globSync(pattern, { cwd: directory })
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => !leaveOut.some((part) => path.startsWith(`${part}/`)))
    .toSorted((a, b) => (a < b ? -1 : 1))
    .map((path) => ({ path, text: readFileSync(join(directory, path), "utf8") }));
}

/** Writes sources below a directory. */
export function writeSources(sources: readonly Source[], directory: string): void {
  for (const { path, text } of sources) {
    const file = join(directory, path);
    mkdirSync(join(file, ".."), { recursive: true });
    writeFileSync(file, text);
  }
}

export function fetched({
  name,
  version,
  integrity,
  root,
}: Pick<CorpusPackage, "name" | "version" | "integrity" | "root">): string {
  const word = name.replaceAll("/", "-");
  const directory = join(CORPUS, `${word}-${version}`);
  if (!existsSync(directory)) {
    console.log(`Fetching ${name} ${version} into bench/corpus (npm pack; needs the network) …`);
    const staging = join(CORPUS, `.${word}-${process.pid}`);
    mkdirSync(staging, { recursive: true });
    run("npm", ["pack", "--silent", `${name}@${version}`], staging);
    const [archive = ""] = globSync("*.tgz", { cwd: staging });
    const hash = `sha512-${createHash("sha512")
      .update(readFileSync(join(staging, archive)))
      .digest("base64")}`;
    if (hash !== integrity) throw new Error(`what the registry gave for ${name} ${version} is not what was pinned`);
    run("tar", ["-xzf", archive], staging);
    renameSync(join(staging, "package"), directory);
    rmSync(staging, { recursive: true });
  }
  return join(directory, root);
}

function run(command: string, argv: readonly string[], cwd: string): void {
  const { status, error, stderr } = spawnSync(command, argv, {
    cwd,
    encoding: "utf8",
    shell: process.platform === "win32",
  });
  if (status !== 0)
    throw new Error(`${command} ${argv.join(" ")} failed: ${error?.message ?? stderr.trim().slice(-500)}`);
}

function written(query: string, files: readonly string[]): Question {
  return { kind: "written", query, focus: [], files };
}
