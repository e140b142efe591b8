import * as z from "zod";
import { ValidationError } from "../../domain/errors/errors.ts";
import type { JsonObject, JsonValue } from "../../domain/values/json.ts";
import type { QualifiedName } from "../../domain/names/qualified-name.ts";
import { NodeFailure } from "./graph-error.ts";

/**
 * The form an answer must have. Providers are asked to see to it, but not all of them can, so it is checked here too.
 */
export class AnswerFormat {
  readonly schema: JsonObject;
  readonly #form: z.ZodType;

  private constructor(schema: JsonObject, form: z.ZodType) {
    this.schema = schema;
    this.#form = form;
  }

  static of(actor: { name: QualifiedName; responseFormat: JsonObject | undefined }): AnswerFormat | undefined {
    const { name, responseFormat } = actor;
    if (responseFormat === undefined) return undefined;
    try {
      return new AnswerFormat(responseFormat, z.fromJSONSchema(responseFormat));
    } catch (error) {
      const message = `response_format is not a JSON Schema: ${error instanceof Error ? error.message : String(error)}`;
      throw new ValidationError(`The actor ${name} cannot be used: ${message}.`, [
        { path: "response_format", message },
      ]);
    }
  }

  /** The data that a model's text stands for. */
  parsed(text: string): JsonValue {
    let value: JsonValue;
    try {
      value = JSON.parse(FENCED.exec(text)?.[1] ?? text);
    } catch {
      throw new NodeFailure("the answer is not JSON, which its response_format asks for");
    }
    this.check(value);
    return value;
  }

  check(value: JsonValue): void {
    const { error } = this.#form.safeParse(value);
    if (error === undefined) return;
    const problems = error.issues.map(({ path, message }) =>
      path.length === 0 ? message : `${path.join(".")}: ${message}`,
    );
    throw new NodeFailure(`the answer does not fit its response_format: ${problems.slice(0, 5).join("; ")}`);
  }
}

/** Many models put data between the marks of a code block, however they are asked. */
const FENCED = /^\s*```(?:json)?\s*\n([\s\S]*?)\n\s*```\s*$/;
