/** Where a thread or process that is a `PlanActor` begins. */
import { parentPort, workerData } from "node:worker_threads";
import { openStore } from "../store/sqlite/open-store.ts";
import { outcomeOf, type Outcome } from "./outcome.ts";
import { PlanActor, type ActorCommand } from "./plan-actor.ts";

const url = parentPort === null ? process.argv[2] : (workerData as { url: string }).url;
if (url === undefined) throw new Error("The url of the store is missing.");
const store = await openStore(url);
const actor = new PlanActor(store);

/** A failure of the whole command is an answer too: the test that asked should see it. */
const answer = async (command: ActorCommand, reply: (outcomes: Outcome[]) => void): Promise<void> => {
  const outcome = await outcomeOf(actor.carryOut(command));
  reply(outcome.ok ? outcome.value : [outcome]);
};

if (parentPort !== null) {
  const port = parentPort;
  port.on("message", (command: ActorCommand) => void answer(command, (outcomes) => port.postMessage(outcomes)));
  port.postMessage("ready");
} else {
  process.on("message", (command: ActorCommand) => void answer(command, (outcomes) => process.send?.(outcomes)));
  process.on("disconnect", () => process.exit(0));
  process.send?.("ready");
}
