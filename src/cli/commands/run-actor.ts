import { defaultActorKey } from "../../domain/actor-settings.ts";
import { ConfigurationError } from "../../domain/errors.ts";
import type { CommandContext } from "../command-context.ts";

/**
 * Who does the work when nobody is named: the configured default, or the first model of the only provider that is configured. Of several
 * providers none is chosen by us: what is sent, and who is paid, is the user's to decide.
 */
export async function runActor(context: CommandContext, named: string | undefined): Promise<string> {
  const { value } = await context.setting(defaultActorKey("execution"));
  const wanted = named ?? value;
  // Whoever does not exist is told before anything is written.
  if (wanted !== undefined) return (await context.actorNamed(wanted)).name;
  const { configuredProviders } = await import("../../actors/providers.ts");
  const providers = configuredProviders((await context.config()).global, context.environment).filter(
    ({ models }) => models.length > 0,
  );
  const offered = providers.flatMap(({ name, models }) => models.slice(0, 1).map((model) => `${name}/${model}`));
  const [only, ...others] = offered;
  if (only !== undefined && others.length === 0) return only;
  if (only === undefined) {
    throw new ConfigurationError("No model is configured.", {
      kept: "Nothing was written and nothing was sent.",
      next: [
        "export ANTHROPIC_API_KEY=…   (or OPENAI_API_KEY, GEMINI_API_KEY)",
        "agents config set provider.ollama.base-url http://127.0.0.1:11434/v1",
        "agents config set provider.scripted.transcript <file>   (offline, see docs/models.md)",
      ],
    });
  }
  throw new ConfigurationError(`Several models are configured (${offered.join(", ")}); which one is to do it?`, {
    kept: "Nothing was written and nothing was sent.",
    next: [`agents actor set-default execution ${only}`, `agents run --actor ${only} "<request>"`],
  });
}
