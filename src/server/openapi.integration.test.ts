/** The document of the interface: it is valid, it has every route, and real answers are as it says. */
import { Validator as Linter } from "@seriousme/openapi-schema-validator";
import { Validator, type Schema } from "jsonschema";
import { afterAll, beforeAll, expect, test } from "vitest";
import { routedOperations } from "./routed-operations.ts";
import { ServerWorld } from "./testing/server-world.ts";

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId: string }>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

const ROOT = "http://document.example/";

let server: ServerWorld;
let document: Document;
let plan = "";

beforeAll(async () => {
  server = await ServerWorld.start();
  plan = await server.executed();
  document = JSON.parse((await server.send("/api/v1/openapi.json")).text) as Document;
});
afterAll(() => server[Symbol.asyncDispose]());

test("the document is valid, and has each route once", async () => {
  const { valid, errors } = await new Linter().validate({ ...structuredClone(document) });
  expect(errors).toBeUndefined();
  expect(valid).toBe(true);
  const paths = Object.keys(document.paths).filter((path) => path.startsWith("/api/v1/operations/"));
  expect(paths).toEqual(routedOperations().map(([name]) => `/api/v1/operations/${name}`));
  const ids = Object.values(document.paths).flatMap((path) =>
    Object.values(path).map(({ operationId }) => operationId),
  );
  expect(new Set(ids).size).toBe(ids.length);
});

test("no key of it is in camelCase", () => {
  const keys = Object.values(document.components.schemas).flatMap(({ properties = {} }) => Object.keys(properties));
  expect(keys.filter((key) => /[A-Z]/.test(key))).toEqual([]);
});

test("an input that may ask says how a request approves", () => {
  const { properties = {} } = document.components.schemas["plan.apply.input"] ?? {};
  expect(Object.keys(properties)).toEqual(expect.arrayContaining(["plan", "approve", "seen_version"]));
  expect(Object.keys(document.components.schemas["plan.status.input"]?.properties ?? {})).toContain("seen_version");
  expect(Object.keys(document.components.schemas["project.list.input"]?.properties ?? {})).not.toContain("approve");
});

test("every refer of it leads somewhere", () => {
  const refers = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)];
  expect(refers.length).toBeGreaterThan(100);
  expect(refers.flatMap(([, name = ""]) => (name in document.components.schemas ? [] : [name]))).toEqual([]);
});

test("the answers of all reading operations are as it says", async () => {
  const validator = new Validator();
  validator.addSchema(document as unknown as Schema, ROOT);
  let results = 0;
  for (const [name, entry] of routedOperations()) {
    if (entry.writes || name === "diagnostics") continue;
    const parameters = entry.parameters ?? [];
    const has = (wanted: string): boolean => parameters.some((one) => one.name === wanted);
    const given: Readonly<Record<string, string>> = { plan, project: "shop", directory: server.world.repository };
    const known = Object.fromEntries(Object.entries(given).filter(([key]) => has(key)));
    const { envelope } = await server.post(name, { ...examples(entry.example), ...known });
    const ok = envelope.status === "ok";
    const schema = ok ? `${ROOT}#/components/schemas/${name}.output` : `${ROOT}#/components/schemas/error`;
    results += ok ? 1 : 0;
    const { errors } = validator.validate(ok ? envelope.data : envelope, { $ref: schema });
    expect([name, errors.map(String)]).toEqual([name, []]);
  }
  expect(results).toBeGreaterThan(25);
});

function examples(example: object): Record<string, unknown> {
  const spelled = ([key, value]: [string, unknown]): [string, unknown] => [
    key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    value,
  ];
  return Object.fromEntries(Object.entries(example).map(spelled));
}

test("the metrics count requests, plans, streams and what is behind", async () => {
  const { status, text, headers } = await server.send("/metrics");
  expect([status, headers["content-type"]]).toEqual([200, "text/plain; version=0.0.4; charset=utf-8"]);
  expect(text).toMatch(/^cleveragents_http_requests_total\{method="GET",status="200"\} [1-9]/m);
  expect(text).toMatch(/^cleveragents_plans\{state="completed"\} \d+$/m);
  expect(text).toMatch(/^cleveragents_event_lag \d+$/m);
  expect(text).toMatch(/^cleveragents_event_subscribers 0$/m);
  const lines = text.trim().split("\n");
  expect(lines.filter((line) => !/^(# (HELP|TYPE) \w+ .+|\w+(\{[^{}]*\})? [\d.e+-]+)$/.test(line))).toEqual([]);
});
