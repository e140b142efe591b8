/**
 * The mode of a session: how much an agent does without asking. Default modes differ between agents, and in some a
 * model approves, so the mode is always set and then checked. Newer agents have it among their options.
 */
import * as z from "zod";
import type { ClientContext } from "@agentclientprotocol/sdk";

const Modes = z.object({
  currentModeId: z.string(),
  availableModes: z.array(z.object({ id: z.string() })),
});
const Choice = z.object({ value: z.string() });
const Choices = z.array(z.union([Choice, z.object({ options: z.array(Choice) })]));
/** Version 2 of the protocol names an option by `configId`, and has no modes of another kind. */
const Option = z.object({
  id: z.string().optional(),
  configId: z.string().optional(),
  category: z.string().nullish(),
  currentValue: z.unknown().optional(),
  options: z.unknown().optional(),
});
const Options = z.object({ configOptions: z.array(Option).nullish().catch(undefined) });
type ModeOption = z.output<typeof Option>;
const Session = z.object({ sessionId: z.string(), modes: Modes.nullish().catch(undefined), ...Options.shape });

/** `told` is the mode that the agent announced last. */
export async function chooseMode(
  agent: ClientContext,
  session: unknown,
  mode: string,
  told: () => string | undefined,
): Promise<void> {
  const { sessionId, modes, configOptions } = Session.parse(session);
  const option = configOptions?.find(({ category }) => category === "mode");
  if (modes !== undefined && modes !== null) {
    if (modes.currentModeId === mode) return;
    requireMode(
      mode,
      modes.availableModes.map(({ id }) => id),
    );
    await agent.request("session/set_mode", { sessionId, modeId: mode });
    const now = told() ?? mode;
    if (now !== mode) throw new Error(`its mode is "${now}" although "${mode}" was set`);
    return;
  }
  if (option === undefined) throw new Error(`it has no modes, so "${mode}" cannot be set`);
  if (option.currentValue === mode) return;
  requireMode(mode, valuesOf(option.options));
  const configId = idOf(option);
  const answer = await agent.request<unknown, object>("session/set_config_option", {
    sessionId,
    configId,
    ...(option.configId === undefined ? {} : { type: "id" }),
    value: mode,
  });
  const now = Options.parse(answer).configOptions?.find((one) => idOf(one) === configId)?.currentValue ?? mode;
  if (now !== mode) throw new Error(`its mode is ${JSON.stringify(now)} although "${mode}" was set`);
}

function idOf({ configId, id }: ModeOption): string {
  return configId ?? id ?? "";
}

function requireMode(mode: string, known: readonly string[]): void {
  if (!known.includes(mode)) throw new Error(`it has no mode "${mode}"; it has ${known.join(", ") || "none"}`);
}

function valuesOf(options: unknown): string[] {
  const read = Choices.safeParse(options);
  if (!read.success) return [];
  return read.data.flatMap((one) => ("value" in one ? [one.value] : one.options.map(({ value }) => value)));
}
