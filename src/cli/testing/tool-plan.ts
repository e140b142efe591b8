/** A plan of a tool actor for a small git repository, made through the command line. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { makeRepository } from "../../testing/git-repository.ts";
import type { Agents } from "./agents.ts";
import { allowCommands } from "./confinement.ts";

export class ToolPlan {
  readonly id: string;
  readonly agents: Agents;

  private constructor(agents: Agents, id: string) {
    this.agents = agents;
    this.id = id;
  }

  /** `steps` are those of the actor's file. */
  static async make(agents: Agents, steps: string): Promise<ToolPlan> {
    const repository = join(agents.directory, "repository");
    makeRepository(repository);
    agents.write("actor.yaml", `name: worker\ntype: tool\ndescription: works\nsteps:\n${steps}`);
    agents.write(
      "action.yaml",
      "name: work\ndescription: Do the work\ndefinition_of_done: It is done\nexecution_actor: local/worker\n",
    );
    for (const call of [
      ["actor", "add", "--config", "actor.yaml"],
      ["action", "create", "--config", "action.yaml"],
      ["resource", "add", "git-checkout", "api", "--path", repository],
      ["project", "create", "shop", "--resource", "api"],
    ]) {
      const { error } = await agents.json(...call);
      if (error !== undefined) throw new Error(`${call.join(" ")}: ${error.message}`);
    }
    await allowCommands(agents);
    const { data } = await agents.json("plan", "use", "work", "shop");
    return new ToolPlan(agents, String(data["plan_id"]));
  }

  /** The text of a file in the sandbox. */
  file(path: string): string {
    return readFileSync(join(this.agents.dataDir, "sandboxes", this.id, "1", "api", "tree", path), "utf8");
  }
}
