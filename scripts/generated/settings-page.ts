/** `docs/settings.md`: every key of the configuration, from the table that `agents config` reads. */
import { PROVIDER_FIELDS, providerSetting } from "../../src/domain/settings/provider-settings.ts";
import { SETTINGS, type Setting } from "../../src/domain/settings/settings.ts";
import type { GeneratedPage } from "./generated-page.ts";

export function settingsPage(): GeneratedPage {
  const groups = Map.groupBy(SETTINGS, ({ key }) => key.split(".")[0] ?? "");
  const provider = PROVIDER_FIELDS.flatMap((field) => withName(field) ?? []);
  const parts = [
    "# Settings\n",
    "Made by `npm run commands` from the table of settings; do not edit.\n",
    "```sh",
    "agents config list                               # every key, its value, and where the value comes from",
    "agents config set budget.per-plan 2.50           # for you",
    "agents config get budget.per-plan --verbose      # which level won, and which others have a value",
    "agents config unset budget.per-plan              # back to the default",
    "```\n",
    "The first of these that has a value counts: a flag of the command, the environment variable, the project, your",
    "configuration file, the default. `--project NAME` sets a key for one project, where the table says that it can be.",
    "A value that does not fit is refused when it is set, and is an error where it is read; it is never skipped.\n",
  ];
  for (const [name, settings] of groups) parts.push(`## ${name}\n`, table(settings));
  parts.push(
    "## provider\n",
    "There are as many providers as you name: `NAME` is `openai`, `anthropic`, `ollama`, or any word of your own.",
    "[models.md](models.md) explains them, and names the variables that the companies' own programs read, which count too.\n",
    table(provider),
  );
  return { file: "docs/settings.md", text: parts.join("\n") };
}

/** The setting of a provider that the reader names; the key's own variable differs from provider to provider. */
function withName(field: string): Setting | undefined {
  const setting = providerSetting(`provider.name.${field}`);
  if (setting === undefined) return undefined;
  const { env, description, default: value } = setting;
  return {
    ...setting,
    key: `provider.NAME.${field}`,
    env: env.replace(/\bNAME_/, "<NAME>_").replace("_NAME_", "_<NAME>_"),
    default: field === "type" ? `by its name, else ${value}` : value,
    description: description.replaceAll(/\bname\b/g, "NAME"),
  };
}

function table(settings: readonly Setting[]): string {
  const rows = settings.map(({ key, env, default: value, perProject, description }) => {
    const cells = [`\`${key}\``, value === undefined ? "" : `\`${value}\``, `\`${env}\``, perProject ? "yes" : ""];
    return `| ${[...cells, description.replaceAll("|", "\\|").replaceAll("<", "\\<")].join(" | ")} |`;
  });
  return ["| key | default | variable | per project | what it does |", "|---|---|---|---|---|", ...rows, ""].join("\n");
}
