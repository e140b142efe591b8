/**
 * Clouds that host the models of others: Azure, Amazon Bedrock and Google Vertex. Their endpoint follows from a
 * resource, a region or a project, which their own programs read from the environment; an endpoint that the user set
 * goes before it.
 */
import { Secret } from "../../domain/secrets/secret.ts";
import type { ProviderType } from "../../domain/settings/provider-settings.ts";
import type { Environment } from "../../domain/values/environment.ts";

export interface CloudAccess {
  /** Of Bedrock, for the signature of requests. */
  readonly region?: string;
  readonly accessKeyId?: string;
  readonly secretAccessKey?: Secret;
  readonly sessionToken?: Secret;
  /** Of Vertex; its credentials are those of Google's own tools. */
  readonly project?: string;
  readonly location?: string;
}

export function cloudEndpoint(type: ProviderType, environment: Environment): string | undefined {
  const { AZURE_RESOURCE_NAME: resource } = environment;
  const { region, project, location } = cloudAccess(type, environment) ?? {};
  if (type === "azure") return resource === undefined ? undefined : `https://${resource}.openai.azure.com/openai`;
  if (type === "bedrock") return region === undefined ? undefined : `https://bedrock-runtime.${region}.amazonaws.com`;
  if (type !== "vertex" || project === undefined) return undefined;
  const host = location === "global" ? "aiplatform.googleapis.com" : `${location}-aiplatform.googleapis.com`;
  return `https://${host}/v1/projects/${project}/locations/${location}/publishers/google`;
}

export function cloudAccess(type: ProviderType, environment: Environment): CloudAccess | undefined {
  if (type === "bedrock") {
    const { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret, AWS_SESSION_TOKEN: token } = environment;
    const region = environment["AWS_REGION"] ?? environment["AWS_DEFAULT_REGION"];
    return {
      ...(region === undefined ? {} : { region }),
      ...(id === undefined ? {} : { accessKeyId: id }),
      ...(secret === undefined ? {} : { secretAccessKey: new Secret(secret) }),
      ...(token === undefined ? {} : { sessionToken: new Secret(token) }),
    };
  }
  if (type !== "vertex") return undefined;
  const project = environment["GOOGLE_VERTEX_PROJECT"] ?? environment["GOOGLE_CLOUD_PROJECT"];
  const location = environment["GOOGLE_VERTEX_LOCATION"] ?? environment["GOOGLE_CLOUD_LOCATION"] ?? "global";
  return { location, ...(project === undefined ? {} : { project }) };
}

/** Whether there is something to sign requests with besides a key. */
export function hasCloudAccess(type: ProviderType, access: CloudAccess | undefined): boolean {
  if (type === "bedrock") return access?.accessKeyId !== undefined && access.secretAccessKey !== undefined;
  return type === "vertex" && access?.project !== undefined;
}
