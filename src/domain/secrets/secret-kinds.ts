import { isWords } from "./secret-likeness.ts";

/**
 * Kinds of secrets that are known by their form: how each begins, which characters follow and how many. The facts
 * (prefixes, alphabets, lengths) are those that the companies document and public rule sets agree on. Each begins with
 * something fixed and has no repetition inside another, so that the time grows with the text and not faster.
 */
export interface SecretKind {
  /** Its own; the tests have an example for each. */
  readonly id: string;
  /** As the mask calls it. */
  readonly name: string;
  /** The ways it begins; each is literal text. */
  readonly begins: readonly string[];
  /** The part after the prefix, as a regular expression. */
  readonly body: string;
  /** Not a secret although it has the form. */
  readonly unless?: (secret: string) => boolean;
}

/** Alphabets. */
const W = "[A-Za-z0-9_-]";
const A = "[A-Za-z0-9]";
const H = "[a-f0-9]";
const U = "[A-Z0-9]";
const UUID = `${H}{8}-${H}{4}-${H}{4}-${H}{4}-${H}{12}`;
const END = "(?![A-Za-z0-9])";

function kind(id: string, name: string, begins: string, body: string, unless = isWords): SecretKind {
  return { id, name, begins: begins.split(" "), body, unless };
}

/** Whose alphabet is so small that a drawn one may look like words. */
function exact(id: string, name: string, begins: string, body: string): SecretKind {
  return { id, name, begins: begins.split(" "), body };
}

const MODELS: readonly SecretKind[] = [
  kind("openai", "API key", "sk-", `${W}{20,300}`),
  kind("model-provider", "API key", "gsk_ hf_ r8_ pplx- xai- fw_ csk- nvapi- tgp_v1_ api_org_", `${W}{24,200}`),
  kind("elevenlabs", "API key", "sk_", `${H}{48}${END}`),
  kind("jina", "API key", "jina_", `${A}{32}${W}{20,60}`),
  kind("langsmith", "API key", "lsv2_pt_ lsv2_sk_", `${H}{32}_${H}{10}`),
  kind("pinecone", "API key", "pcsk_", `${A}{5,6}_${A}{50,70}`),
  kind("tavily", "API key", "tvly-", `${W}{32,60}`),
  kind("firecrawl", "API key", "fc-", `${H}{32}${END}`),
  kind("e2b", "API key", "e2b_", `${H}{40}${END}`),
  kind("bedrock", "AWS key", "ABSK", "[A-Za-z0-9+/]{100,269}"),
  kind("bedrock-short", "AWS key", "bedrock-api-key-", "[A-Za-z0-9+/=_-]{28,4000}"),
];

const CLOUDS: readonly SecretKind[] = [
  exact("google", "Google key", "AIza", `${W}{35}`),
  kind("google-client", "Google secret", "GOCSPX-", `${W}{28}`),
  kind("google-access", "Google token", "ya29.", `${W}{20,2000}`),
  kind("google-refresh", "Google token", "1//0", `${W}{40,200}`),
  exact("aws", "AWS key", "AKIA ASIA ABIA ACCA", `${U}{16}${END}`),
  kind("alibaba", "cloud key", "LTAI", `${A}{17,21}${END}`),
  kind("tencent", "cloud key", "AKID", `${A}{32}${END}`),
  kind("yandex-key", "cloud key", "AQVN", `${W}{35,38}`),
  kind("yandex-token", "cloud token", "t1.", `[A-Z0-9a-z_-]{8,200}\\.${W}{86}`),
  kind("yandex-oauth", "cloud token", "y0_", `${W}{50,70}`),
  kind("digitalocean", "cloud token", "dop_v1_ doo_v1_ dor_v1_", `${H}{64}`),
  exact("digitalocean-spaces", "cloud key", "DO00 DO801", `${U}{16}${END}`),
  kind("heroku", "cloud token", "HRKU-AA", `${W}{50,60}`),
  kind("vault", "cloud token", "hvs. hvb. hvr.", `${W}{24,300}`),
  kind("vault-older", "cloud token", "s. b.", `${A}{24}(?![A-Za-z0-9._-])`, isNoDraw),
  kind("databricks", "cloud token", "dapi", `${H}{32}(?:-\\d)?${END}`),
  kind("fly", "cloud token", "fo1_ fm1_ fm1a_ fm1r_ fm2_", "[A-Za-z0-9+/=_,-]{43,4000}"),
  kind("render", "cloud token", "rnd_", `${A}{32}`),
  kind("netlify", "cloud token", "nfp_ nfc_ nfo_ nfu_ nfb_", `${A}{36}`),
  kind("vercel", "cloud token", "vcp_ vci_ vca_ vcr_ vck_", `${A}{50,60}`),
  kind("supabase", "cloud token", "sbp_", `${H}{40}`),
  kind("supabase-secret", "cloud key", "sb_secret_", `${W}{31}`),
  kind("planetscale", "database password", "pscale_tkn_ pscale_pw_ pscale_oauth_", "[A-Za-z0-9=._-]{32,64}"),
  kind("neon", "cloud key", "napi_", "[a-z0-9]{60,70}"),
  kind("mongodb-atlas", "cloud secret", "mdb_sa_sk_", `${W}{38,60}`),
  kind("pulumi", "cloud token", "pul-", `${H}{40}`),
  kind("doppler", "cloud token", "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.", "[A-Za-z0-9._-]{40,60}"),
  kind("one-password", "cloud token", "ops_eyJ", "[A-Za-z0-9+/]{250,4000}"),
  kind("cloudflare-ca", "cloud key", "v1.0-", `${H}{24}-${H}{146}`),
  kind("openshift", "cluster token", "sha256~", `${W}{43}${END}`),
  kind("tailscale", "network key", "tskey-", `(?:auth|api|client|scim|webhook)-${A}{6,30}-${A}{20,60}`),
  kind("defined-networking", "network key", "dnkey-", "[a-z0-9=_-]{26}-[a-z0-9=_-]{52}"),
  kind("prefect", "cloud key", "pnu_ pnb_", "[a-z0-9]{36}"),
];

const CODE: readonly SecretKind[] = [
  kind("github", "GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_", `${A}{36,255}`),
  kind("github-fine", "GitHub token", "github_pat_", "[A-Za-z0-9_]{22,255}"),
  kind(
    "gitlab",
    "GitLab token",
    "glpat- gldt- glrt- glsoat- glptt- gloas- glcbt- glimt- glft- glagent- glffct- glwt-",
    "[A-Za-z0-9_.-]{20,300}",
  ),
  kind("gitlab-runner", "GitLab token", "GR1348941", `${W}{20}`),
  kind("bitbucket", "Atlassian token", "ATBB", `${A}{24,40}`),
  kind("atlassian", "Atlassian token", "ATATT3 ATCTT3", "[A-Za-z0-9_=-]{60,300}"),
  exact("npm", "npm token", "npm_", `${A}{36}`),
  kind("pypi", "PyPI token", "pypi-", `${W}{50,300}`),
  kind("rubygems", "package token", "rubygems_", `${H}{48}`),
  kind("crates", "package token", "cio", `${A}{32}${END}`),
  kind("nuget", "package token", "oy2", "[a-z0-9]{43}(?![A-Za-z0-9])"),
  kind("packagist", "package token", "packagist_", `(?:ort|ouo|oat|ate|uut)_${H}{60,70}`),
  kind("clojars", "package token", "CLOJARS_", "[a-z0-9]{60}"),
  kind("artifactory", "package token", "AKCp", `${A}{60,80}`),
  kind("artifactory-reference", "package token", "cmVmd", `${A}{59}${END}`),
  kind("docker", "Docker token", "dckr_pat_ dckr_oat_", `${W}{20,100}`),
  kind("sonar", "Sonar token", "sqp_ squ_ sqa_", `${H}{40}`),
  kind("circleci", "build token", "CCIPAT_ CCIPRJ_", `${A}{20,30}_${H}{40}`),
  kind("buildkite", "build token", "bkua_ bkct_", "[a-z0-9]{40}"),
  kind("octopus", "deploy key", "API-", `${U}{26}${END}`),
  kind("harness", "deploy token", "pat. sat.", `${W}{22}\\.[a-f0-9]{24}\\.${A}{20}`),
  kind("sourcegraph", "Sourcegraph token", "sgp_ slk_", `${H}{40,64}`),
  kind("segment", "Segment token", "sgp_", `${A}{64}`),
  kind("postman", "Postman key", "PMAK-", `${H}{24}-${H}{34}`),
  kind("readme", "ReadMe key", "rdme_", "[a-z0-9]{70}"),
];

const MESSAGES: readonly SecretKind[] = [
  kind("slack", "Slack token", "xoxa- xoxb- xoxe- xoxo- xoxp- xoxr- xoxs- xoxc- xoxd- xoxe.", "[A-Za-z0-9%.-]{10,400}"),
  kind("slack-app", "Slack token", "xapp-", "\\d-[A-Z0-9]{8,20}-\\d{8,20}-[a-z0-9]{40,80}"),
  kind("discord", "Discord token", "M N O", `${W}{23,27}\\.${W}{6}\\.${W}{27,40}`),
  kind("twilio", "Twilio key", "SK", `${H}{32}${END}`),
  kind("sendgrid", "SendGrid key", "SG.", `${W}{16,64}\\.${W}{16,64}`),
  kind("mailgun", "Mailgun key", "key- pubkey-", `${H}{32}${END}`),
  kind("brevo", "mail key", "xkeysib- xsmtpsib-", `${H}{64}-${A}{16}`),
  kind("resend", "mail key", "re_", `${A}{8}_${A}{20,30}${END}`),
  kind("mandrill", "mail key", "md-", `${W}{22}(?![A-Za-z0-9_-])`),
  kind("facebook", "Facebook token", "EAAM EAAC EAAB EAAG", `${A}{100,400}`),
  kind("instagram", "Instagram token", "IGQV IGQW", `${W}{100,400}`),
  kind("twitter", "Twitter token", "AAAAAAAAAAAAAAAAAAAAA", "[A-Za-z0-9%]{80,120}"),
  kind("typeform", "Typeform token", "tfp_", `${W}{40,70}`),
];

const MONEY: readonly SecretKind[] = [
  kind("stripe", "Stripe key", "sk_live_ sk_test_ rk_live_ rk_test_ sk_prod_ rk_prod_", `${A}{16,250}`),
  kind("webhook-secret", "webhook secret", "whsec_", "[A-Za-z0-9+/=]{24,80}"),
  kind("square", "Square token", "sq0atp- sq0csp- sq0idp-", `${W}{22,60}`),
  kind("square-access", "Square token", "EAAA", `${W}{60}${END}`),
  kind("shopify", "Shopify token", "shpat_ shpca_ shppa_ shpss_", "[A-Fa-f0-9]{32}"),
  kind("braintree", "payment token", "access_token$production$ access_token$sandbox$", `[0-9a-z]{16}\\$${H}{32}`),
  kind("plaid", "payment token", "access-sandbox- access-development- access-production-", UUID),
  kind("razorpay", "payment key", "rzp_live_ rzp_test_", `${A}{14}${END}`),
  kind("flutterwave", "payment key", "FLWSECK_TEST- FLWSECK-", `${A}{12,40}`),
  kind("adyen", "payment key", "AQE", "[a-z]hm[A-Za-z0-9+/=.-]{40,200}"),
  kind("duffel", "travel token", "duffel_live_ duffel_test_", `${W}{43}`),
  kind("easypost", "shipping key", "EZAK EZTK", `${A}{54}`),
  kind("shippo", "shipping token", "shippo_live_ shippo_test_", `${H}{40}`),
  kind("lob", "mail key", "live_ test_", `${H}{35}${END}`),
];

const SERVICES: readonly SecretKind[] = [
  kind("linear", "Linear key", "lin_api_ lin_oauth_", `${A}{32,64}`),
  kind("notion", "Notion token", "ntn_ secret_", `${A}{43,50}${END}`),
  kind("figma", "Figma token", "figd_ figo_ figu_", `${W}{36,60}`),
  kind("airtable", "Airtable token", "pat", `${A}{14}\\.${H}{64}`),
  kind("asana", "Asana token", "1/ 2/", `\\d{12,20}(?:/\\d{12,20})?:${H}{32}`),
  kind("new-relic", "New Relic key", "NRAK- NRIQ- NRII- NRAA-", `${W}{27,40}`),
  kind("new-relic-browser", "New Relic key", "NRJS-", `${H}{19}${END}`),
  kind("grafana", "Grafana token", "glsa_", `${A}{32}_[A-Fa-f0-9]{8}`),
  kind("grafana-cloud", "Grafana token", "glc_", "[A-Za-z0-9+/]{32,400}"),
  kind("grafana-key", "Grafana key", "eyJrIjoi", "[A-Za-z0-9+/=]{60,400}"),
  kind("sentry", "Sentry token", "sntrys_", "[A-Za-z0-9+/=_-]{80,400}"),
  kind("sentry-user", "Sentry token", "sntryu_", `${H}{64}`),
  kind("dynatrace", "Dynatrace token", "dt0c01. dt0s01. dt0s16.", `${U}{24}\\.${U}{64}`),
  kind("honeycomb", "Honeycomb key", "hcaik_ hcbik_ hcxik_ hcxmk_", "[a-z0-9]{50,64}"),
  kind("launchdarkly", "LaunchDarkly key", "sdk- api- mob-", UUID),
  kind("posthog", "PostHog key", "phx_", `${W}{40,50}`),
  kind("contentful", "Contentful token", "CFPAT-", `${W}{43}`),
  kind("dropbox", "Dropbox token", "sl.", `(?:u\\.)?${W}{130,2000}`),
  kind("mapbox", "Mapbox token", "sk.eyJ", `${W}{40,200}\\.${W}{20,30}`),
  kind("frameio", "Frame token", "fio-u-", "[A-Za-z0-9_=-]{64}"),
  kind("terraform", "Terraform token", "atlasv1.", "[A-Za-z0-9_=-]{60,70}"),
  kind("settlemint", "SettleMint token", "sm_pat_ sm_aat_ sm_sat_", `${A}{16}${END}`),
  kind("intra", "school secret", "s-s4t2ud- s-s4t2af-", `${H}{64}`),
  exact("age", "age key", "AGE-SECRET-KEY-1", "[0-9A-Z]{50,70}"),
  kind("clickhouse", "ClickHouse key", "4b1d", `${A}{38}${END}`, isNoDraw),
];

export const SECRET_KINDS: readonly SecretKind[] = [...MODELS, ...CLOUDS, ...CODE, ...MESSAGES, ...MONEY, ...SERVICES];

/** Where the beginning says little: the rest has small letters, capitals and digits, as random text has. */
function isNoDraw(secret: string): boolean {
  const drawn = secret.slice(2);
  return !(/[a-z]/.test(drawn) && /[A-Z]/.test(drawn) && /\d/.test(drawn)) || /[a-z]{7}/.test(drawn);
}
