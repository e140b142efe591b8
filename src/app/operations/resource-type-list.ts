import * as z from "zod";
import { RESOURCE_TYPES } from "../../domain/resource/resource.ts";
import { defineOperation } from "../base/operation.ts";
import { ResourceTypeFacts, resourceTypeFacts } from "../queries/resource-type-facts.ts";

export const operation = defineOperation({
  input: z.strictObject({}),
  output: z.strictObject({
    resourceTypes: z.array(ResourceTypeFacts),
    summary: z.strictObject({ total: z.int() }),
  }),
  run: () =>
    Promise.resolve({
      resourceTypes: RESOURCE_TYPES.map(resourceTypeFacts),
      summary: { total: RESOURCE_TYPES.length },
    }),
});
