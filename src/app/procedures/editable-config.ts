/** The configuration file, changed as a whole: each value that differs is an entry of the audit log. */
import { recordConfigChange } from "../../catalog/config-audit.ts";
import { readYaml } from "../../domain/definition/yaml-file.ts";
import { ConflictError, listIssues, ValidationError } from "../../domain/errors/errors.ts";
import { maskSecrets } from "../../domain/secrets/redaction.ts";
import { checkConfig } from "../../domain/settings/config-form.ts";
import { configText, replaceConfig } from "../../platform/settings/config-file.ts";
import { isCredential } from "../../platform/settings/credentials.ts";
import { isObject } from "../../domain/definition/spelling.ts";
import type { App } from "../base/app.ts";
import type { Opened } from "./editable-definitions.ts";

type Values = ReadonlyMap<string, string>;

export function editableConfig(app: App): Promise<Opened> {
  const file = app.paths.config;
  const seen = configText(file);
  const replace: Opened["replace"] = async ({ text, file: shown }) => {
    const after = checkedValues(text, shown);
    const before = valuesIn(seen, shown);
    const [store, user] = [await app.store(), await app.user()];
    const replaced = await replaceConfig(file, { seen, text }, async () => {
      for (const key of new Set([...before.keys(), ...after.keys()])) {
        const [from, to] = [before.get(key), after.get(key)];
        if (from === to) continue;
        const [project, name = ""] = key.split("\n");
        const change = { key: name, from: masked(from), to: masked(to), project: project === "" ? undefined : project };
        await recordConfigChange(store, user, change);
      }
    });
    if (!replaced) {
      throw new ConflictError(
        "The configuration was changed meanwhile.",
        { expected: "the configuration that you saw", actual: "another one" },
        { kept: "Nothing was changed." },
      );
    }
    return true;
  };
  return Promise.resolve({ name: file, text: seen, replace });
}

function checkedValues(text: string, file: string): Values {
  return hasValues(text)
    ? readYaml(text, file, "a configuration", (value) => {
        refuseKeys(value);
        checkConfig(value);
        return flat(value);
      })
    : new Map();
}

/** The file as it was may have problems, which the new text mends. */
function valuesIn(text: string, file: string): Values {
  try {
    return hasValues(text) ? readYaml(text, file, "a configuration", flat) : new Map();
  } catch (error) {
    if (error instanceof ValidationError) return new Map();
    throw error;
  }
}

function hasValues(text: string): boolean {
  return text.split("\n").some((line) => !/^\s*(?:#|$)/.test(line));
}

/** Keys for providers lie in a file of their own, which only the user can read. */
function refuseKeys(value: unknown): void {
  const keys = Object.keys(isObject(value) ? value : {}).filter(isCredential);
  const message = "is not kept here; agents config set writes it where only you can read it";
  const issues = keys.map((path) => ({ path, message }));
  if (issues.length > 0) throw new ValidationError(`The configuration is not valid: ${listIssues(issues)}.`, issues);
}

/** By project and key. */
function flat(value: unknown): Values {
  const entries = Object.entries(isObject(value) ? value : {}).flatMap(([key, one]) => {
    if (key !== "projects" || !isObject(one)) return [[`\n${key}`, String(one)] as const];
    return Object.entries(one).flatMap(([project, values]) =>
      Object.entries(isObject(values) ? values : {}).map(
        ([inner, text]) => [`${project}\n${inner}`, String(text)] as const,
      ),
    );
  });
  return new Map(entries);
}

function masked(value: string | undefined): string | undefined {
  return value === undefined ? undefined : maskSecrets(value).text;
}
