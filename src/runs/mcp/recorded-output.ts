/** The answer of a server as it is recorded: the text that a model can read, the whole beside it, one image. */
import { imageProblem } from "../../domain/values/image.ts";
import type { AddedOutput } from "../../domain/tool/added-tool.ts";
import type { JsonValue } from "../../domain/values/json.ts";
import { outputPath } from "../../execution/tools/call-outputs.ts";
import { cutText } from "../../execution/tools/cut-text.ts";
import type { AskedCall } from "../../execution/tools/tool.ts";
import { imageFacts } from "../../platform/image-facts.ts";
import { maskedFacts, maskedText } from "../../platform/masking.ts";

/** Characters that a model is shown, that a program gets, and that are kept to be read in parts. */
const SHOWN = 30_000;
const RECORDED: number = 256 * 1024;
const KEPT: number = 10 * 1024 * 1024;

interface Sent {
  readonly text: string;
  readonly image?: Uint8Array | undefined;
  /** The name that the image gets. */
  readonly name: string;
  readonly data?: JsonValue | undefined;
}

export async function recordedOutput(sent: Sent, call: AskedCall): Promise<AddedOutput> {
  const { by, forModel, outputs } = call;
  // Masked as a whole: a key of several lines is not recognized in parts.
  const all = maskedText(sent.text.slice(0, KEPT).toWellFormed());
  const picture = sent.image === undefined ? undefined : await keptImage(sent.image, sent.name, call);
  const canKeep = outputs !== undefined && picture?.image === undefined;
  const where = canKeep ? `; read them with read_file ${outputPath(by)}` : "";
  const shown = cutText(all, forModel ? SHOWN : RECORDED, (lines) => `… ${lines} lines left out${where}`);
  const text = [shown.text, picture?.note ?? ""].filter((part) => part !== "").join("\n");
  const data =
    sent.data !== undefined && JSON.stringify(sent.data).length <= RECORDED ? { data: maskedFacts(sent.data) } : {};
  const image = picture?.image === undefined ? {} : { image: picture.image };
  if (shown.leftOut === 0 || !canKeep) return { text, ...data, ...image };
  return { text, ...data, whole: await outputs.keep(by, all) };
}

async function keptImage(
  bytes: Uint8Array,
  name: string,
  { by, outputs }: AskedCall,
): Promise<{ readonly note: string; readonly image?: NonNullable<AddedOutput["image"]> }> {
  const facts = imageFacts(bytes);
  if (facts === undefined) return { note: `[an image of ${bytes.length} bytes that cannot be shown]` };
  const problem = imageProblem(facts);
  if (problem !== undefined) return { note: `[an image that ${problem}]` };
  if (outputs === undefined) return { note: `[an image of ${bytes.length} bytes]` };
  return { note: "", image: { name, sha256: await outputs.keep(by, bytes), ...facts } };
}
