import { CommanderError } from "commander";
import { OUTPUT_FORMATS, type OutputFormat } from "../domain/settings.ts";
import { CommandContext } from "./command-context.ts";
import { writeError, writeOutcome, type Run, type Streams } from "./output.ts";
import { resolvePaths } from "./paths.ts";
import { buildProgram, commandPath, usageError } from "./program.ts";
import type { Terminal } from "./render.ts";

/** `agents`: parse, run one command, print one result, tell the truth in the exit code. */
async function main(argv: readonly string[]): Promise<number> {
  const startedAt = Date.now();
  const begun = performance.now();
  const { stdout, stderr, env: environment } = process;
  const terminal = (stream: NodeJS.WriteStream): Terminal => ({
    isTTY: stream.isTTY,
    columns: stream.columns,
    environment,
  });
  const streams: Streams = {
    out: (text) => void stdout.write(text),
    err: (text) => void stderr.write(text),
    outTerminal: terminal(stdout),
    errTerminal: terminal(stderr),
  };
  const program = buildProgram(streams.out, stdout.isTTY ? stdout.columns : 80);
  const describe = (command: string, format: OutputFormat): Run => ({
    command,
    format,
    startedAt,
    durationMs: performance.now() - begun,
    verbose: program.globals().verbose > 0,
  });

  try {
    program.command.parse([...argv], { from: "user" });
  } catch (error) {
    const usage = error instanceof CommanderError ? usageError(error, argv) : error;
    return usage === undefined ? 0 : writeError(usage, describe(commandPath(argv), wantedFormat(argv)), streams);
  }
  const call = program.call();
  if (call === undefined) return 0;

  const { dataDir, configPath, ...options } = program.globals();
  await using context = new CommandContext({
    paths: resolvePaths({ dataDir, configPath }, environment),
    options,
    environment,
  });
  const path = call === "overview" ? call : call.spec.path;
  let format = wantedFormat(argv);
  try {
    format = await context.format();
    const outcome =
      call === "overview"
        ? await (await import("./commands/overview.ts")).overview(context)
        : await call.spec.run(context, call.input);
    return await writeOutcome(outcome, describe(path, format), streams);
  } catch (error) {
    return writeError(error, describe(path, format), streams);
  }
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

process.exitCode = await main(process.argv.slice(2));
