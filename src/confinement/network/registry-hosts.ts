/**
 * The registries from which the package managers of a project download. The user decides about them: in the setting
 * `sandbox.registries`, in the configuration of a package manager below the home, in variables, and by what a package
 * manager itself says when it is asked outside of the checkout. A registry that only the repository names is not
 * reached, because a hostile repository could name any host.
 */
import { lstatSync, readdirSync, readFileSync, type Dirent } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { isPrivateHost } from "../../domain/network/endpoint-address.ts";
import type { Environment } from "../../domain/values/environment.ts";

export interface Registry {
  readonly host: string;
  /** Undefined for the usual ports of http and https. */
  readonly port: number | undefined;
  /** Named by the user, so it may be in a private network. */
  readonly configured: boolean;
}

interface Manager {
  /** A project uses it when it has one of these files, at the top or one directory below. */
  readonly marks: RegExp;
  /** The command by which it says what it uses where nothing is configured. */
  readonly asked?: readonly [program: string, ...args: string[]];
  /** Configuration below the home, or in the checkout, with the expression whose first group is the URL. */
  readonly files: readonly { readonly path: string; readonly url: RegExp }[];
  readonly variables: readonly string[];
}

const URL_VALUE = String.raw`["']?((?:sparse\+)?https?://[^\s"',|]+)`;
const NPMRC = new RegExp(String.raw`^\s*(?:@[\w.-]+:)?registry\s*=\s*${URL_VALUE}`, "gm");
const PIP = new RegExp(String.raw`^\s*(?:--)?(?:extra-)?index-url[\s=]+${URL_VALUE}`, "gm");
const TOML_URL = new RegExp(String.raw`^\s*(?:url|registry|index)\s*=\s*${URL_VALUE}`, "gm");

const MANAGERS: readonly Manager[] = [
  {
    marks: /^(?:package\.json|pnpm-lock\.yaml|yarn\.lock|bun\.lockb?|deno\.jsonc?)$/,
    asked: ["npm", "config", "get", "registry"],
    files: [
      { path: ".npmrc", url: NPMRC },
      { path: ".yarnrc", url: new RegExp(String.raw`^\s*"?registry"?\s+${URL_VALUE}`, "gm") },
      { path: ".yarnrc.yml", url: new RegExp(String.raw`^\s*npmRegistryServer:\s*${URL_VALUE}`, "gm") },
    ],
    variables: ["npm_config_registry", "NPM_CONFIG_REGISTRY", "YARN_NPM_REGISTRY_SERVER"],
  },
  {
    marks: /^(?:pyproject\.toml|setup\.py|setup\.cfg|Pipfile|(?:requirements|constraints)[\w.-]*\.txt)$/,
    files: [
      ...[".config/pip/pip.conf", ".pip/pip.conf", "pip.conf", "requirements.txt"].map((path) => ({ path, url: PIP })),
      ...["pyproject.toml", "uv.toml", "Pipfile"].map((path) => ({ path, url: TOML_URL })),
    ],
    variables: ["PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "UV_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX"],
  },
  {
    marks: /^Cargo\.toml$/,
    files: [".cargo/config.toml", ".cargo/config"].map((path) => ({ path, url: TOML_URL })),
    variables: ["CARGO_REGISTRIES_CRATES_IO_INDEX"],
  },
  {
    marks: /^go\.mod$/,
    asked: ["go", "env", "GOPROXY", "GOSUMDB"],
    files: [{ path: ".config/go/env", url: new RegExp(String.raw`^GOPROXY=${URL_VALUE}`, "gm") }],
    variables: ["GOPROXY"],
  },
  {
    marks: /^(?:pom\.xml|build\.gradle(?:\.kts)?)$/,
    files: [".m2/settings.xml", "pom.xml"].map((path) => ({ path, url: /<url>\s*(https?:\/\/[^\s<]+)/g })),
    variables: [],
  },
  {
    marks: /^Gemfile$/,
    files: [{ path: "Gemfile", url: new RegExp(String.raw`^\s*source\s*\(?\s*${URL_VALUE}`, "gm") }],
    variables: ["BUNDLE_MIRROR__ALL"],
  },
];

/** `allowed`: the hosts of the user's setting, each with or without a port. */
export async function registriesOf(
  checkout: string,
  allowed: readonly string[],
  environment: Environment,
): Promise<Registry[]> {
  const found = allowed.map((item) => hostAndPort(item));
  for (const { files, variables, asked } of managersIn(checkout)) {
    found.push(...files.flatMap(({ path, url }) => urlsIn(contentOf(join(homedir(), path)), url)));
    for (const name of variables) found.push(...addressesIn(environment[name] ?? ""));
    if (asked !== undefined) found.push(...(await answerOf(asked, environment)));
  }
  return [...new Map(found.map((one) => [`${one.host}:${one.port}`, one])).values()];
}

/** The registries that the repository itself names: reached only when the user allows them. */
export function registriesOfRepository(checkout: string): Registry[] {
  return managersIn(checkout).flatMap(({ files }) =>
    files.flatMap(({ path, url }) => urlsIn(contentOf(join(checkout, path)), url)),
  );
}

function managersIn(checkout: string): Manager[] {
  const names = namesIn(checkout);
  return MANAGERS.filter(({ marks }) => names.some((name) => marks.test(name)));
}

const SECONDS_TO_ANSWER = 10;

/** Asked in the home: in the checkout it would answer as the repository says. Without an answer it names nothing. */
async function answerOf([program, ...args]: readonly string[], environment: Environment): Promise<Registry[]> {
  const options = { cwd: homedir(), env: { ...environment }, timeout: SECONDS_TO_ANSWER * 1000 };
  const { stdout } = await promisify(execFile)(program ?? "", args, options).catch(() => ({ stdout: "" }));
  const named = addressesIn(stdout);
  // A checksum database is named by its host alone.
  const plain = stdout.split(/\s+/).filter((word) => /^[a-z\d-]+(?:\.[a-z\d-]+)+$/i.test(word));
  return [...named, ...plain.map((host) => ({ host, port: undefined, configured: true }))].map((one) => ({
    ...one,
    configured: isPrivateHost(one.host),
  }));
}

function addressesIn(text: string): Registry[] {
  return text.split(/[\s,|]+/).flatMap(registryAt);
}

function hostAndPort(item: string): Registry {
  const [, host = item, port] = /^\[?(.*?)\]?(?::(\d+))?$/.exec(item) ?? [];
  return { host: host.toLowerCase(), port: port === undefined ? undefined : Number(port), configured: true };
}

/** Settings in the user's home, which a command does not see, as variables; without those that hold a password. */
export function registryVariables(environment: Environment): Record<string, string> {
  const home = homedir();
  const npm =
    environment["npm_config_registry"] ?? /^\s*registry\s*=\s*(\S+)/m.exec(contentOf(join(home, ".npmrc")))?.[1];
  const pip =
    environment["PIP_INDEX_URL"] ??
    /^\s*index-url\s*=\s*(\S+)/m.exec(contentOf(join(home, ".config/pip/pip.conf")))?.[1];
  const go = environment["GOPROXY"];
  const named = { npm_config_registry: npm, PIP_INDEX_URL: pip, GOPROXY: go };
  const plain = Object.entries(named).filter(([, value]) => value !== undefined && !/\/\/[^/]*@/.test(value));
  return Object.fromEntries(plain) as Record<string, string>;
}

function urlsIn(text: string, url: RegExp): Registry[] {
  return [...text.matchAll(url)].flatMap(([, address = ""]) => registryAt(address));
}

function registryAt(address: string): Registry[] {
  const plain = address.replace(/^sparse\+/, "");
  if (!/^https?:\/\//.test(plain) || !URL.canParse(plain)) return [];
  const { hostname, port } = new URL(plain);
  return [{ host: hostname.replace(/^\[|\]$/g, ""), port: port === "" ? undefined : Number(port), configured: true }];
}

/** Larger ones are not settings. */
const SIZE_LIMIT = 1024 * 1024;

/** Settings that are missing, or that we may not read, name nothing. */
function contentOf(file: string): string {
  try {
    const found = lstatSync(file);
    return found.isFile() && found.size <= SIZE_LIMIT ? readFileSync(file, "utf8") : "";
  } catch {
    return "";
  }
}

function namesIn(checkout: string): string[] {
  const top = entriesOf(checkout);
  const below = top
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith(".") && entry.name !== "node_modules")
    .flatMap((entry) => entriesOf(join(checkout, entry.name)));
  return [...top, ...below].map(({ name }) => name);
}

function entriesOf(directory: string): Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch {
    return [];
  }
}
