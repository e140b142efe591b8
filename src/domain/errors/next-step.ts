/**
 * A next step for the caller: an operation with its arguments, which each surface spells in its own way (the command
 * line as a command, a server as a link), or advice that is not an operation of ours, such as "git rebase --continue".
 */
export type NextStep =
  | {
      /** The path of the operation: "plan.resume". */
      readonly operation: string;
      /** By name. A value such as "<guidance>" stands for one that the user chooses. */
      readonly arguments?: NextArguments;
      /** Said before it: "resolve it, then". */
      readonly note?: string;
    }
  | { readonly text: string };

/** By the names of the operation's input. */
type NextArguments = Readonly<
  Record<string, string | number | boolean | readonly string[] | Readonly<Record<string, string>>>
>;

/**
 * The operation as the next step, with an optional note that is said before it.
 *
 * @example nextStep("plan.resume", { plan: "01JZ" })
 */
export function nextStep(operation: string, args: NextArguments = {}, note?: string): NextStep {
  return {
    operation,
    ...(Object.keys(args).length === 0 ? {} : { arguments: args }),
    ...(note === undefined ? {} : { note }),
  };
}

/** The same with `value` where the placeholder stands: `withValue(raise, "<dollars>", "none")`. */
export function withValue(step: NextStep, placeholder: string, value: string): NextStep {
  if ("text" in step) return { text: step.text.replace(placeholder, value) };
  const filled = Object.entries(step.arguments ?? {}).map(
    ([name, given]) => [name, given === placeholder ? value : given] as const,
  );
  return nextStep(step.operation, Object.fromEntries(filled), step.note);
}
