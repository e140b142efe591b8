import { ConfigurationError } from "../errors/errors.ts";
import { nextStep } from "../errors/next-step.ts";

/** An agent of another maker carries steps out; it records no strategy. */
export function noStrategistError(name: string): ConfigurationError {
  return new ConfigurationError(
    `The actor "${name}" is an agent of another maker: it can carry out the steps of a plan, but not decide on them.`,
    {
      kept: "Nothing was changed.",
      next: [nextStep("run", { request: "<request>", actor: name, strategyActor: "<provider>/<model>" })],
      detail: { actor: name },
    },
  );
}
