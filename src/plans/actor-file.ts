import { parseToolActor, type ToolActorInput } from "../domain/tool-actor.ts";
import { readYaml } from "../domain/yaml-file.ts";

/** The loader of actor files. Their keys are single words, the same in YAML as in the schema. */
export function parseActorFile(text: string, file: string): ToolActorInput {
  return readYaml(text, file, "an actor", (value) => {
    parseToolActor(value);
    return value as ToolActorInput;
  });
}
