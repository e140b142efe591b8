import { isForbiddenHost } from "../network/endpoint-address.ts";
import { listItems } from "./provider-settings.ts";
import type { Setting } from "./settings.ts";

/** Which addresses plans may read with `web_fetch` besides those of the internet. */
export const WEB_SETTINGS: readonly Setting[] = [
  {
    key: "web.private-hosts",
    env: "CLEVERAGENTS_WEB_PRIVATE_HOSTS",
    default: undefined,
    description: "Hosts of your own network that plans may read with web_fetch, as host or host:port, with commas",
    perProject: false,
    problem: hostsProblem,
  },
];

function hostsProblem(value: string): string | undefined {
  for (const item of listItems(value)) {
    const url = URL.canParse(`http://${item}`) ? new URL(`http://${item}`) : undefined;
    if (url === undefined || url.pathname !== "/" || url.username !== "") return `"${item}" is not a host or host:port`;
    if (isForbiddenHost(url.hostname)) return `"${item}" is an address to which nothing is sent`;
  }
  return listItems(value).length === 0 ? "must not be empty" : undefined;
}

export function privateHostsOf(value: string | undefined): ReadonlySet<string> {
  return new Set(listItems(value ?? "").map((item) => item.toLowerCase()));
}
