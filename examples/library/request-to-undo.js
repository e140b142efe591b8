// A request becomes a plan; look at its diff, apply it, undo it:
// node request-to-undo.js DATA_DIRECTORY REPOSITORY TRANSCRIPT
import { openCleverAgents } from "cleveragents";

const [dataDir, directory, transcript] = process.argv.slice(2);
const settings = { "provider.scripted.transcript": transcript }; // a model that answers from a file
await using agents = await openCleverAgents({ dataDir, settings });

// Yes to the strategy; the changes wait until we have seen them.
const ask = async ({ kind }) => ({ kind: kind === "strategy" ? "yes" : "no" });
const { planId } = await agents.run("run", { request: "say hello", directory }, { ask, answers: "program" });
const { patch } = await agents.run("plan.diff", { plan: planId });
console.log(patch);
const { applied } = await agents.run("plan.apply", { plan: planId });
const { undone } = await agents.run("plan.undo", { plan: planId });
console.log({ applied, undone });
