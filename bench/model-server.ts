/**
 * The model that answers at once, in a process of its own, so that its time does not count for any of the others. Tells
 * its url and waits.
 */
import { countingModel } from "../src/actors/graph/testing/counting-model.ts";

await using model = await countingModel();
process.send?.(model.url);
await new Promise((resolve) => process.once("disconnect", resolve));
