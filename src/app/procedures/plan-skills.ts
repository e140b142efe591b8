import { setCommandPolicy } from "../../confinement/command-policy.ts";
import type { Plan } from "../../domain/plan/plan.ts";
import { planResources } from "../../plans/in-place-rules.ts";
import { SkillSource } from "../../runs/skill-source.ts";
import type { App } from "../base/app.ts";
import { skillPlaces } from "../queries/skill-facts.ts";

/** The skills of a plan. Its commands can read their folders. */
export function planSkills(app: App, plan: Plan): SkillSource {
  return new SkillSource({
    places: async () => {
      const resources = await (await app.store()).read((reader) => planResources(reader, plan));
      return skillPlaces(
        app,
        resources.map(({ path }) => path),
      );
    },
    show: (shownDirectories) => setCommandPolicy({ shownDirectories }),
  });
}
