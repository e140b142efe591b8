/**
 * The registries from which the package managers of a project download: those that their own configuration names, in
 * the user's checkout, home and environment, and the public ones of the managers in use. Read from the checkout, never
 * from the sandbox: a plan cannot add to them.
 */
import { lstatSync, readdirSync, readFileSync, type Dirent } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

export interface Registry {
  readonly host: string;
  /** Undefined for the usual ports of http and https. */
  readonly port: number | undefined;
  /** Named by the user's or the project's configuration, so it may be in a private network. */
  readonly configured: boolean;
}

type Environment = Readonly<Record<string, string | undefined>>;

interface Manager {
  /** A project uses it when it has one of these files, at the top or one directory below. */
  readonly marks: RegExp;
  readonly hosts: readonly string[];
  /** Configuration in the checkout and below the home, with the expression whose first group is the URL. */
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
    hosts: ["registry.npmjs.org", "registry.yarnpkg.com", "npm.jsr.io", "jsr.io"],
    files: [
      { path: ".npmrc", url: NPMRC },
      { path: ".yarnrc", url: new RegExp(String.raw`^\s*"?registry"?\s+${URL_VALUE}`, "gm") },
      { path: ".yarnrc.yml", url: new RegExp(String.raw`^\s*npmRegistryServer:\s*${URL_VALUE}`, "gm") },
    ],
    variables: ["npm_config_registry", "NPM_CONFIG_REGISTRY", "YARN_NPM_REGISTRY_SERVER"],
  },
  {
    marks: /^(?:pyproject\.toml|setup\.py|setup\.cfg|Pipfile|(?:requirements|constraints)[\w.-]*\.txt)$/,
    hosts: ["pypi.org", "files.pythonhosted.org"],
    files: [
      ...[".config/pip/pip.conf", ".pip/pip.conf", "pip.conf", "requirements.txt"].map((path) => ({ path, url: PIP })),
      ...["pyproject.toml", "uv.toml", "Pipfile"].map((path) => ({ path, url: TOML_URL })),
    ],
    variables: ["PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "UV_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX"],
  },
  {
    marks: /^Cargo\.toml$/,
    hosts: ["crates.io", "index.crates.io", "static.crates.io"],
    files: [".cargo/config.toml", ".cargo/config"].map((path) => ({ path, url: TOML_URL })),
    variables: ["CARGO_REGISTRIES_CRATES_IO_INDEX"],
  },
  {
    marks: /^go\.mod$/,
    hosts: ["proxy.golang.org", "sum.golang.org"],
    files: [{ path: ".config/go/env", url: new RegExp(String.raw`^GOPROXY=${URL_VALUE}`, "gm") }],
    variables: ["GOPROXY"],
  },
  {
    marks: /^(?:pom\.xml|build\.gradle(?:\.kts)?)$/,
    hosts: ["repo.maven.apache.org", "repo1.maven.org", "plugins.gradle.org", "services.gradle.org"],
    files: [".m2/settings.xml", "pom.xml"].map((path) => ({ path, url: /<url>\s*(https?:\/\/[^\s<]+)/g })),
    variables: [],
  },
  {
    marks: /^Gemfile$/,
    hosts: ["rubygems.org", "index.rubygems.org"],
    files: [{ path: "Gemfile", url: new RegExp(String.raw`^\s*source\s*\(?\s*${URL_VALUE}`, "gm") }],
    variables: ["BUNDLE_MIRROR__ALL"],
  },
];

export function registriesOf(checkout: string, environment: Environment = process.env): Registry[] {
  const names = namesIn(checkout);
  const used = MANAGERS.filter(({ marks }) => names.some((name) => marks.test(name)));
  const found = used.flatMap(({ hosts, files, variables }) => [
    ...files.flatMap(({ path, url }) =>
      [join(checkout, path), join(homedir(), path)].flatMap((file) => urlsIn(contentOf(file), url)),
    ),
    ...variables.flatMap((name) => (environment[name] ?? "").split(/[\s,|]+/).flatMap(registryAt)),
    ...hosts.map((host) => ({ host, port: undefined, configured: false })),
  ]);
  const seen = new Map(found.map((one) => [`${one.host}:${one.port}`, one]).reverse() as [string, Registry][]);
  return [...seen.values()];
}

/** Settings in the user's home, which a command does not see, as variables; without those that hold a password. */
export function registryVariables(environment: Environment = process.env): Record<string, string> {
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
