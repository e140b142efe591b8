/**
 * The client that the official conformance suite of the Model Context Protocol drives: our operations, as a person with
 * a browser and a plan use them. The suite hands over the address of its server as the last argument, and the scenario
 * in the environment.
 */
import { calls, FIX, LoopWorld, step, strategy } from "../../src/app/testing/loop-world.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../src/domain/values/json.ts";

const SERVER = "suite";
const SECRET_VARIABLE = "SUITE_CLIENT_SECRET";
/** The suite's example of a client that is described at an address. */
const CLIENT_ADDRESS = "https://conformance-test.local/client-metadata.json";
/** The one that a scenario offers. */
const RESOURCE = "file:///path/to/file%20name.txt";
const MOST_LOGINS = 3;

interface Call {
  readonly tool: string;
  readonly parameters: JsonObject;
}

const url = process.argv.at(-1) ?? "";
const { MCP_CONFORMANCE_SCENARIO: scenario = "", MCP_CONFORMANCE_CONTEXT: given = "{}" } = process.env;
const context = JSON.parse(given) as JsonObject;
const { client_id: clientId, client_secret: clientSecret } = context;

await using world = new LoopWorld();
world.environment = typeof clientSecret === "string" ? { [SECRET_VARIABLE]: clientSecret } : {};
const agents = await world.agents();
await agents.run("mcp.server.add", { server: SERVER, url });
let logins = 0;
const tested = await withLogin(() => agents.run("mcp.server.test", { server: SERVER, directory: world.directory }));
const resource = { tool: "mcp_read_resource", parameters: { server: SERVER, uri: RESOURCE } };
const wanted = [
  ...wantedCalls(tested.tools.map(({ name }) => name)),
  ...(tested.resources === 0 ? [] : [{ tool: "mcp_list_resources", parameters: {} }, resource]),
];
if (wanted.length > 0) await withLogin(() => planned(wanted));
if (scenario === "json-schema-2020-12-preservation") await planned([await echoOfSchema()]);

for (const { name } of tested.prompts) await prompted(name);

/** A scenario's prompt may be empty: it is asked for all the same. */
async function prompted(name: string): Promise<void> {
  try {
    await agents.run("run", { prompt: `${SERVER}/${name}`, directory: world.repository }, { answers: "none" });
  } catch (error) {
    if (!(error instanceof Error) || !error.message.includes("has no text")) throw error;
  }
}

/** Repeats it after a login for as long as it wants one. */
async function withLogin<T>(use: () => Promise<T>): Promise<T> {
  try {
    return await use();
  } catch (error) {
    if (!(error instanceof Error) || !error.message.includes("wants a login") || logins >= MOST_LOGINS) throw error;
    logins += 1;
    await login();
    return await withLogin(use);
  }
}

/** As a person: opens the page that is told. */
async function login(): Promise<void> {
  const pages: Promise<unknown>[] = [];
  const tell = (event: { readonly type: string; readonly text?: string }): void => {
    const page = event.type === "notice" ? /^Open (\S+)$/.exec(event.text ?? "")?.[1] : undefined;
    if (page !== undefined) pages.push(fetch(page));
  };
  const registered = {
    ...(typeof clientId === "string" ? { clientId } : {}),
    ...(typeof clientSecret === "string" ? { clientSecretEnv: SECRET_VARIABLE } : {}),
    ...(scenario === "auth/basic-cimd" ? { clientId: CLIENT_ADDRESS } : {}),
  };
  await agents.run("mcp.server.login", { server: SERVER, ...registered }, { tell });
  await Promise.all(pages);
}

function wantedCalls(listed: readonly string[]): Call[] {
  const { toolCalls } = context;
  if (Array.isArray(toolCalls)) return (toolCalls as readonly JsonValue[]).flatMap(callOf);
  const parameters: Readonly<Record<string, JsonObject>> = {
    add_numbers: { a: 5, b: 3 },
    valid_tool: { region: "eu" },
    // Echoes a schema, which is not known yet.
    json_schema_echo: {},
  };
  return listed
    .filter((tool) => tool !== "json_schema_echo")
    .map((tool) => ({ tool, parameters: parameters[tool] ?? {} }));
}

function callOf(value: JsonValue): Call[] {
  const { name, arguments: parameters } = isJsonObject(value) ? value : {};
  return typeof name === "string" && parameters !== undefined && isJsonObject(parameters)
    ? [{ tool: name, parameters }]
    : [];
}

/** One plan makes the calls one after another. Its last answer is an error when a call wanted a login. */
async function planned(wishes: readonly Call[]): Promise<string> {
  world.script(
    strategy(FIX),
    ...wishes.map(({ tool, parameters }) => step("fix", calls(offered(tool), parameters))),
    step("fix", calls("write_file", { path: `${logins}.txt`, content: "b\n" })),
    { match: { tool: "write_file" }, text: "Done." },
  );
  const { planId } = await world.run("use the tools");
  const { messages } = await world.shown(planId, `fix.${wishes.length + 2}`);
  const told = messages.map(({ output }) => output ?? "").join("\n");
  if (told.includes("wants a login")) throw new Error(told);
  return planId;
}

function offered(tool: string): string {
  return tool.startsWith("mcp_") ? tool : `mcp__${SERVER}__${tool.replaceAll("-", "_")}`;
}

/** The schema of a tool as a model is shown it, sent back. */
async function echoOfSchema(): Promise<Call> {
  const planId = await planned([]);
  const { tools } = await world.shown(planId, "fix.1");
  const focal = tools.find(({ name }) => name === offered("json_schema_2020_12_tool")) as JsonObject | undefined;
  return { tool: "json_schema_echo", parameters: { schema: focal?.["parameters"] ?? {} } };
}
