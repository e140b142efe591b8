import { OUTPUT_FORMATS, type OutputFormat } from "../domain/settings.ts";
import { CommandContext } from "./command-context.ts";
import { closeGate, print } from "./gate.ts";
import type { Outcome } from "./outcome.ts";
import { writeError, writeOutcome, type Run, type Streams } from "./output.ts";
import { resolvePaths } from "./paths.ts";
import type { Program } from "./program.ts";
import type { Terminal } from "./render.ts";

/** `agents`: parse, run one command, print one result, tell the truth in the exit code. */
interface Invocation {
  readonly command: string;
  readonly globals: ReturnType<Program["globals"]>;
  readonly run: (context: CommandContext) => Promise<Outcome>;
}

async function main(argv: readonly string[]): Promise<number> {
  const startedAt = Date.now();
  const begun = performance.now();
  const { stdout, stderr, env: environment } = process;
  const streams: Streams = {
    out: (text) => print(stdout, text),
    err: (text) => print(stderr, text),
    outTerminal: terminal(stdout),
    errTerminal: terminal(stderr),
  };
  const describe = (command: string, format: OutputFormat): Run => ({
    command,
    format,
    startedAt,
    durationMs: performance.now() - begun,
    verbose: argv.some((word) => word === "--verbose" || /^-v+$/.test(word)),
  });

  let command = "";
  let format = wantedFormat(argv);
  // Node itself would print what went wrong past the gate.
  const end = async (error: unknown): Promise<void> =>
    process.exit(await writeError(error, describe(command || "agents", format), streams));
  process.on("uncaughtException", (error) => void end(error));
  try {
    const invocation = await parse(argv, streams);
    if (invocation === undefined) return 0;
    command = invocation.command;
    const { dataDir, configPath, ...options } = invocation.globals;
    const paths = resolvePaths({ dataDir, configPath }, environment);
    await using context = new CommandContext({ paths, options, environment });
    format = await context.format();
    const outcome = await invocation.run(context);
    const messages = [...context.notices, ...outcome.messages];
    return await writeOutcome({ ...outcome, messages }, describe(command, format), streams);
  } catch (error) {
    command ||= (await import("./program.ts")).commandPath(argv) || "agents";
    return writeError(error, describe(command, format), streams);
  }
}

/** What the words ask for; undefined when they asked for help and got it. */
async function parse(argv: readonly string[], streams: Streams): Promise<Invocation | undefined> {
  // The one command scripts call in loops skips the parser, which is a third of its start-up time.
  if (argv.length === 1 && ["version", "--version", "-V"].includes(argv[0] ?? "")) {
    const { version } = await import("./commands/version.ts");
    return { command: "version", globals: { verbose: 0 }, run: version };
  }
  const { buildProgram } = await import("./program.ts");
  const program = buildProgram(streams.out, streams.outTerminal.columns || 80);
  const call = program.parse(argv);
  if (call === undefined) return undefined;
  const globals = program.globals();
  if (call !== "overview") {
    return { command: call.spec.path, globals, run: (context) => call.spec.run(context, call.input) };
  }
  const { overview } = await import("./commands/overview.ts");
  return { command: "overview", globals, run: overview };
}

function terminal(stream: NodeJS.WriteStream): Terminal {
  return { isTTY: stream.isTTY, columns: stream.columns, environment: process.env };
}

/** The format as far as it can be told from words that did not parse. */
function wantedFormat(argv: readonly string[]): OutputFormat {
  const index = argv.findIndex((word) => word === "--format" || word === "-f");
  const inline = argv.find((word) => word.startsWith("--format="))?.slice("--format=".length);
  const wanted = inline ?? (index === -1 ? process.env["CLEVERAGENTS_FORMAT"] : argv[index + 1]);
  return OUTPUT_FORMATS.find((format) => format === wanted) ?? "rich";
}

// A reader that went away (`agents plan list | head -1`) is no error.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
  process.exit(0);
});

for (const stream of [process.stdout, process.stderr]) closeGate(stream);
// Should all work end before the command has, that is no success.
process.exitCode = 1;
void (async () => {
  process.exitCode = await main(process.argv.slice(2));
})();
