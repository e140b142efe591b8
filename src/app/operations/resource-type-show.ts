import * as z from "zod";
import { NotFoundError } from "../../domain/errors/errors.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import { findResourceType, RESOURCE_TYPE_NAMES } from "../../domain/resource/resource.ts";
import { nearest } from "../../domain/text/suggest.ts";
import { defineOperation } from "../base/operation.ts";
import { ResourceTypeFacts, resourceTypeFacts } from "../queries/resource-type-facts.ts";

export const operation = defineOperation({
  input: z.strictObject({ type: z.string() }),
  output: ResourceTypeFacts,
  run: async (_, { type: name }) => {
    const type = findResourceType(name);
    if (type !== undefined) return resourceTypeFacts(type);
    const suggestion = nearest(name, RESOURCE_TYPE_NAMES);
    throw new NotFoundError("resource type", name, {
      ...(suggestion === undefined ? {} : { detail: { suggestion } }),
      next: [
        suggestion === undefined
          ? nextStep("resource.type.list")
          : nextStep("resource.type.show", { type: suggestion }),
      ],
    });
  },
});
