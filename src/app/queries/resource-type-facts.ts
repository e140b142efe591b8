/** The facts of a resource type, and the arguments that a resource of the type takes. */
import * as z from "zod";
import { SANDBOX_STRATEGIES, type ResourceType } from "../../domain/resource/resource.ts";

export const ResourceTypeFacts = z.strictObject({
  name: z.string(),
  source: z.literal("built-in"),
  description: z.string(),
  userAddable: z.boolean(),
  cliArguments: z.array(
    z.strictObject({
      argument: z.string(),
      required: z.boolean(),
      type: z.enum(["path", "string"]),
      description: z.string(),
      choices: z.array(z.string()).readonly().optional(),
    }),
  ),
  sandbox: z.strictObject({ strategy: z.enum(SANDBOX_STRATEGIES) }),
});

export function resourceTypeFacts(type: ResourceType): z.output<typeof ResourceTypeFacts> {
  return {
    name: type.name,
    source: "built-in",
    description: type.description,
    userAddable: true,
    cliArguments: type.arguments.map(({ name, required, type: kind, description, choices }) => ({
      argument: `--${name}`,
      required,
      type: kind,
      description,
      ...(choices === undefined ? {} : { choices }),
    })),
    sandbox: { strategy: type.sandbox },
  };
}
