/** A process that asks a model many times at once, within the day's budget, and tells how each call ended. */
import { budgetedModels } from "../runs/budget-caps.ts";
import { ModelGateway } from "../actors/model-gateway.ts";
import { openStore } from "../store/sqlite/open-store.ts";
import { endWithParent, tell, waitForGo } from "./program.ts";

const [url = "", endpoint = "", cap = "", calls = ""] = process.argv.slice(2);
endWithParent();
await using store = await openStore(url);
const models = budgetedModels({
  models: new ModelGateway({
    settings: new Map([
      ["provider.house.base-url", `${endpoint}/v1`],
      ["provider.house.prices", "m=1/1"],
    ]),
    environment: {},
    count: (text) => text.length,
  }),
  store,
  caps: { perPlan: undefined, perDay: { amount: Number(cap), raise: { text: "raise it" } } },
  lease: undefined,
  user: "test",
});
tell("ready");
waitForGo();
await Promise.all(
  Array.from({ length: Number(calls) }, async () => {
    try {
      await models.call({
        model: { provider: "house", model: "m" },
        system: "",
        messages: [{ role: "user", content: "hello" }],
        tools: [],
        settings: { maxOutputTokens: 100 },
        signal: new AbortController().signal,
      });
      tell("answered");
    } catch (error) {
      tell(error instanceof Error && "code" in error ? error.code : String(error));
    }
  }),
);
