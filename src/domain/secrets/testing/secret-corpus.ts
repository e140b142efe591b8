/**
 * Secrets of many kinds, drawn when the test runs and put together from parts, so that no scanner takes this repository
 * for a leak. The kinds and their lengths are written down from the companies' documentation, independently of the
 * rules that are to find them.
 */
import { seededRandom } from "../../../testing/random.ts";

export interface SecretExample {
  readonly group:
    | "models"
    | "clouds"
    | "code"
    | "messages"
    | "money"
    | "services"
    | "shapes"
    | "places"
    | "environment";
  readonly kind: string;
  /** The rule that must find it, where it is the one example of that rule. */
  readonly rule?: string;
  readonly text: string;
  /** The text that must not be left. */
  readonly secret: string;
}

const LOWER = "abcdefghijklmnopqrstuvwxyz";
const UPPER = LOWER.toUpperCase();
const DIGITS = "0123456789";

class Draw {
  readonly #random: () => number;

  constructor(seed: number) {
    this.#random = seededRandom(seed);
  }

  of(alphabet: string, length: number): string {
    return Array.from({ length }, () => alphabet[Math.floor(this.#random() * alphabet.length)]).join("");
  }
  /** Letters of both cases and digits. */
  a(length: number): string {
    return this.of(LOWER + UPPER + DIGITS, length);
  }
  /** The same with the two signs that URLs allow. */
  w(length: number): string {
    return this.of(`${LOWER}${UPPER}${DIGITS}_-`, length - 1) + this.a(1);
  }
  hex(length: number): string {
    return this.of("0123456789abcdef", length);
  }
  upper(length: number): string {
    return this.of(UPPER + DIGITS, length);
  }
  lower(length: number): string {
    return this.of(LOWER + DIGITS, length);
  }
  digits(length: number): string {
    return this.of("123456789", length);
  }
  base64(length: number): string {
    return this.of(`${LOWER}${UPPER}${DIGITS}+/`, length);
  }
  uuid(): string {
    return [8, 4, 4, 4, 12].map((length) => this.hex(length)).join("-");
  }
}

/** Every kind once; another seed draws others. */
export function secretCorpus(seed: number): SecretExample[] {
  const d = new Draw(seed);
  return [
    ...tokens("models", modelTokens(d)),
    ...tokens("clouds", cloudTokens(d)),
    ...tokens("code", codeTokens(d)),
    ...tokens("messages", messageTokens(d)),
    ...tokens("money", moneyTokens(d)),
    ...tokens("services", serviceTokens(d)),
    ...tokens("shapes", shapeTokens(d)),
    ...texts("places", placeTexts(d)),
    ...texts("environment", environmentTexts(d)),
  ];
}

/** The kind, the rule that alone finds it if there is one, and the secret. */
type Token = readonly [kind: string, rule: string | undefined, secret: string];
/** The same with the text around it; `@` stands for the secret. */
type Text = readonly [kind: string, rule: string | undefined, text: string, secret: string];

function tokens(group: SecretExample["group"], list: readonly Token[]): SecretExample[] {
  return list.map(([kind, rule, secret]) => example(group, kind, rule, `the value is "${secret}" here`, secret));
}

function texts(group: SecretExample["group"], list: readonly Text[]): SecretExample[] {
  return list.map(([kind, rule, text, secret]) =>
    example(
      group,
      kind,
      rule,
      text.replace("@@", () => secret),
      secret,
    ),
  );
}

function example(
  group: SecretExample["group"],
  kind: string,
  rule: string | undefined,
  text: string,
  secret: string,
): SecretExample {
  return { group, kind, ...(rule === undefined ? {} : { rule }), text, secret };
}

function modelTokens(d: Draw): Token[] {
  return [
    ["OpenAI", "openai", `sk-${d.a(48)}`],
    ["OpenAI project", undefined, `sk-proj-${d.w(74)}`],
    ["Anthropic", undefined, `sk-ant-api03-${d.w(93)}AA`],
    ["OpenRouter", undefined, `sk-or-v1-${d.hex(64)}`],
    ["DeepSeek", undefined, `sk-${d.hex(32)}`],
    ["Langfuse", undefined, `sk-lf-${d.uuid()}`],
    ["Groq", "model-provider", `gsk_${d.a(52)}`],
    ["Hugging Face", undefined, `hf_${d.a(34)}`],
    ["Replicate", undefined, `r8_${d.a(37)}`],
    ["Perplexity", undefined, `pplx-${d.a(48)}`],
    ["xAI", undefined, `xai-${d.a(80)}`],
    ["NVIDIA", undefined, `nvapi-${d.w(64)}`],
    ["Cerebras", undefined, `csk-${d.lower(48)}`],
    ["ElevenLabs", "elevenlabs", `sk_${d.hex(48)}`],
    ["Jina", "jina", `jina_${d.a(60)}`],
    ["LangSmith", "langsmith", `lsv2_pt_${d.hex(32)}_${d.hex(10)}`],
    ["Pinecone", "pinecone", `pcsk_${d.a(5)}_${d.a(63)}`],
    ["Tavily", "tavily", `tvly-${d.a(32)}`],
    ["Firecrawl", "firecrawl", `fc-${d.hex(32)}`],
    ["E2B", "e2b", `e2b_${d.hex(40)}`],
    ["Bedrock", "bedrock", `ABSK${d.base64(128)}`],
    ["Bedrock, short-lived", "bedrock-short", `bedrock-api-key-${d.base64(120)}`],
  ];
}

function cloudTokens(d: Draw): Token[] {
  return [
    ["Google API", "google", `AIza${d.w(35)}`],
    ["Google client secret", "google-client", `GOCSPX-${d.w(28)}`],
    ["Google access", "google-access", `ya29.${d.w(180)}`],
    ["Google refresh", "google-refresh", `1//0${d.w(100)}`],
    ["AWS access key", "aws", `AKIA${d.upper(16)}`],
    ["AWS session key", undefined, `ASIA${d.upper(16)}`],
    ["Alibaba", "alibaba", `LTAI${d.a(20)}`],
    ["Tencent", "tencent", `AKID${d.a(32)}`],
    ["Yandex key", "yandex-key", `AQVN${d.w(36)}`],
    ["Yandex token", "yandex-token", `t1.${d.a(60)}.${d.w(86)}`],
    ["Yandex OAuth", "yandex-oauth", `y0_${d.w(55)}`],
    ["DigitalOcean", "digitalocean", `dop_v1_${d.hex(64)}`],
    ["DigitalOcean OAuth", undefined, `doo_v1_${d.hex(64)}`],
    ["DigitalOcean Spaces", "digitalocean-spaces", `DO00${d.upper(16)}`],
    ["Heroku", "heroku", `HRKU-AA${d.w(58)}`],
    ["Vault service", "vault", `hvs.${d.w(95)}`],
    ["Vault batch", undefined, `hvb.${d.w(140)}`],
    ["Vault, older", "vault-older", `s.${d.a(21)}aB3`],
    ["Databricks", "databricks", `dapi${d.hex(32)}`],
    ["Fly", "fly", `fo1_${d.w(43)}`],
    ["Render", "render", `rnd_${d.a(32)}`],
    ["Netlify", "netlify", `nfp_${d.a(36)}`],
    ["Vercel", "vercel", `vcp_${d.a(56)}`],
    ["Supabase", "supabase", `sbp_${d.hex(40)}`],
    ["Supabase secret", "supabase-secret", `sb_secret_${d.a(31)}`],
    ["PlanetScale", "planetscale", `pscale_pw_${d.w(43)}`],
    ["Neon", "neon", `napi_${d.lower(64)}`],
    ["MongoDB Atlas", "mongodb-atlas", `mdb_sa_sk_${d.w(40)}`],
    ["Pulumi", "pulumi", `pul-${d.hex(40)}`],
    ["Doppler", "doppler", `dp.pt.${d.a(43)}`],
    ["1Password service", "one-password", `ops_eyJ${d.base64(300)}`],
    ["Cloudflare origin", "cloudflare-ca", `v1.0-${d.hex(24)}-${d.hex(146)}`],
    ["OpenShift", "openshift", `sha256~${d.w(43)}`],
    ["Tailscale", "tailscale", `tskey-auth-${d.a(12)}CNTRL-${d.a(32)}`],
    ["Defined Networking", "defined-networking", `dnkey-${d.lower(26)}-${d.lower(52)}`],
    ["Prefect", "prefect", `pnu_${d.lower(36)}`],
  ];
}

function codeTokens(d: Draw): Token[] {
  return [
    ["GitHub", "github", `ghp_${d.a(36)}`],
    ["GitHub app", undefined, `ghs_${d.a(36)}`],
    ["GitHub, fine-grained", "github-fine", `github_pat_${d.a(22)}_${d.a(59)}`],
    ["GitLab", "gitlab", `glpat-${d.w(20)}`],
    ["GitLab trigger", undefined, `glptt-${d.hex(40)}`],
    ["GitLab runner", "gitlab-runner", `GR1348941${d.w(20)}`],
    ["Bitbucket", "bitbucket", `ATBB${d.a(32)}`],
    ["Atlassian", "atlassian", `ATATT3${d.w(186)}`],
    ["npm", "npm", `npm_${d.a(36)}`],
    ["PyPI", "pypi", `pypi-AgEIcHlwaS5vcmc${d.w(60)}`],
    ["RubyGems", "rubygems", `rubygems_${d.hex(48)}`],
    ["crates.io", "crates", `cio${d.a(32)}`],
    ["NuGet", "nuget", `oy2${d.lower(43)}`],
    ["Packagist", "packagist", `packagist_ort_${d.hex(68)}`],
    ["Clojars", "clojars", `CLOJARS_${d.lower(60)}`],
    ["Artifactory", "artifactory", `AKCp${d.a(69)}`],
    ["Artifactory reference", "artifactory-reference", `cmVmd${d.a(59)}`],
    ["Docker Hub", "docker", `dckr_pat_${d.w(27)}`],
    ["Docker organization", undefined, `dckr_oat_${d.w(32)}`],
    ["Sonar", "sonar", `sqp_${d.hex(40)}`],
    ["CircleCI", "circleci", `CCIPAT_${d.a(22)}_${d.hex(40)}`],
    ["Buildkite", "buildkite", `bkua_${d.lower(40)}`],
    ["Octopus", "octopus", `API-${d.upper(26)}`],
    ["Harness", "harness", `pat.${d.w(22)}.${d.hex(24)}.${d.a(20)}`],
    ["Sourcegraph", "sourcegraph", `sgp_${d.hex(40)}`],
    ["Segment", "segment", `sgp_${d.a(60)}wXyZ`],
    ["Postman", "postman", `PMAK-${d.hex(24)}-${d.hex(34)}`],
    ["ReadMe", "readme", `rdme_${d.lower(70)}`],
  ];
}

function messageTokens(d: Draw): Token[] {
  return [
    ["Slack bot", "slack", `xoxb-${d.digits(12)}-${d.digits(12)}-${d.a(24)}`],
    ["Slack user", undefined, `xoxp-${d.digits(12)}-${d.digits(12)}-${d.digits(12)}-${d.hex(32)}`],
    ["Slack refresh", undefined, `xoxe-1-${d.a(147)}`],
    ["Slack app", "slack-app", `xapp-1-A${d.upper(10)}-${d.digits(13)}-${d.hex(64)}`],
    ["Discord", "discord", `MT${d.a(24)}.${d.w(6)}.${d.w(38)}`],
    ["Twilio", "twilio", `SK${d.hex(32)}`],
    ["SendGrid", "sendgrid", `SG.${d.w(22)}.${d.w(43)}`],
    ["Mailgun", "mailgun", `key-${d.hex(32)}`],
    ["Brevo", "brevo", `xkeysib-${d.hex(64)}-${d.a(16)}`],
    ["Resend", "resend", `re_${d.a(8)}_${d.a(24)}`],
    ["Mandrill", "mandrill", `md-${d.a(22)}`],
    ["Facebook", "facebook", `EAAM${d.a(180)}`],
    ["Instagram", "instagram", `IGQW${d.w(140)}`],
    ["Twitter", "twitter", `${"A".repeat(21)}${d.a(90)}`],
    ["Typeform", "typeform", `tfp_${d.w(59)}`],
  ];
}

function moneyTokens(d: Draw): Token[] {
  return [
    ["Stripe", "stripe", `sk_live_${d.a(24)}`],
    ["Stripe, restricted", undefined, `rk_live_${d.a(99)}`],
    ["webhook", "webhook-secret", `whsec_${d.a(32)}`],
    ["Square", "square", `sq0atp-${d.w(22)}`],
    ["Square access", "square-access", `EAAA${d.a(60)}`],
    ["Shopify", "shopify", `shpat_${d.hex(32)}`],
    ["Shopify shared", undefined, `shpss_${d.hex(32)}`],
    ["Braintree", "braintree", `access_token$production$${d.lower(16)}$${d.hex(32)}`],
    ["Plaid", "plaid", `access-production-${d.uuid()}`],
    ["Razorpay", "razorpay", `rzp_live_${d.a(14)}`],
    ["Flutterwave", "flutterwave", `FLWSECK_TEST-${d.hex(32)}`],
    ["Adyen", "adyen", `AQEyhm${d.a(80)}`],
    ["Duffel", "duffel", `duffel_live_${d.w(43)}`],
    ["EasyPost", "easypost", `EZAK${d.a(54)}`],
    ["Shippo", "shippo", `shippo_live_${d.hex(40)}`],
    ["Lob", "lob", `live_${d.hex(35)}`],
  ];
}

function serviceTokens(d: Draw): Token[] {
  return [
    ["Linear", "linear", `lin_api_${d.a(40)}`],
    ["Notion", "notion", `ntn_${d.digits(11)}${d.a(35)}`],
    ["Figma", "figma", `figd_${d.w(40)}`],
    ["Airtable", "airtable", `pat${d.a(14)}.${d.hex(64)}`],
    ["Asana", "asana", `1/${d.digits(16)}:${d.hex(32)}`],
    ["New Relic", "new-relic", `NRAK-${d.upper(27)}`],
    ["New Relic browser", "new-relic-browser", `NRJS-${d.hex(19)}`],
    ["Grafana", "grafana", `glsa_${d.a(32)}_${d.hex(8)}`],
    ["Grafana cloud", "grafana-cloud", `glc_${d.base64(100)}`],
    ["Grafana, older", "grafana-key", `eyJrIjoi${d.a(80)}`],
    ["Sentry", "sentry", `sntrys_eyJ${d.base64(150)}`],
    ["Sentry user", "sentry-user", `sntryu_${d.hex(64)}`],
    ["Dynatrace", "dynatrace", `dt0c01.${d.upper(24)}.${d.upper(64)}`],
    ["Honeycomb", "honeycomb", `hcaik_${d.lower(58)}`],
    ["LaunchDarkly", "launchdarkly", `sdk-${d.uuid()}`],
    ["PostHog", "posthog", `phx_${d.a(43)}`],
    ["Contentful", "contentful", `CFPAT-${d.w(43)}`],
    ["Dropbox", "dropbox", `sl.${d.w(138)}`],
    ["Mapbox", "mapbox", `sk.eyJ${d.w(80)}.${d.w(22)}`],
    ["Frame", "frameio", `fio-u-${d.w(64)}`],
    ["Terraform", "terraform", `${d.a(14)}.atlasv1.${d.w(67)}`],
    ["SettleMint", "settlemint", `sm_pat_${d.a(16)}`],
    ["42", "intra", `s-s4t2ud-${d.hex(64)}`],
    ["age", "age", `AGE-SECRET-KEY-1${d.upper(58)}`],
    ["ClickHouse", "clickhouse", `4b1d${d.a(35)}aB3`],
  ];
}

function shapeTokens(d: Draw): Token[] {
  const lines = Array.from({ length: 6 }, () => d.base64(64)).join("\n");
  const pem = (kind: string): string =>
    [`-----BEGIN ${kind}PRIVATE KEY-----`, lines, `-----END ${kind}PRIVATE KEY-----`].join("\n");
  return [
    ["RSA key", "private-key", pem("RSA ")],
    ["OpenSSH key", undefined, pem("OPENSSH ")],
    ["EC key", undefined, pem("EC ")],
    ["PuTTY key", "putty-key", `Private-Lines: 8\n${lines}`],
    ["signed token", "signed-token", `eyJ${d.a(33)}.eyJ${d.a(90)}.${d.w(43)}`],
    ["Telegram", "telegram", `${d.digits(10)}:AA${d.w(33)}`],
    ["Mailchimp", "mailchimp", `${d.hex(32)}-us12`],
    ["Azure client", "azure-client", `${d.a(3)}8Q~${d.a(34)}`],
    ["Azure DevOps", "azure-devops", `${d.a(76)}AZDO${d.a(4)}`],
    ["1Password", "one-password-key", ["A3", ...[6, 6, 5, 5, 5, 5].map((length) => d.upper(length))].join("-")],
    ["MaxMind", "maxmind", `${d.a(6)}_${d.a(29)}_mmk`],
  ];
}

/** The password is short, as people choose them. */
const CHOSEN = ["hunter", "2"].join("");
const WORDS = ["sword", "fish"].join("");

function placeTexts(d: Draw): Text[] {
  return [
    ["URL", "url-password", "postgres://ann:@@@db.example/x", CHOSEN],
    ["Redis URL", undefined, "redis://:@@@cache:6379/0", WORDS],
    ["Sentry DSN", "sentry-dsn", "https://@@@o12345.ingest.sentry.io/67890", d.hex(32)],
    [
      "Slack address",
      "chat-address",
      "https://hooks.slack.com/services/@@",
      `T${d.upper(8)}/B${d.upper(8)}/${d.a(24)}`,
    ],
    ["Discord address", undefined, "https://discord.com/api/webhooks/@@", `${d.digits(18)}/${d.w(68)}`],
    [
      "Teams address",
      undefined,
      "https://acme.webhook.office.com/webhookb2/@@",
      `${d.uuid()}@${d.uuid()}/IncomingWebhook/${d.hex(32)}/${d.uuid()}`,
    ],
    ["Azure signature", "azure-sas", "https://a.blob.core.windows.net/c?sv=2022&sig=@@&se=2027", `${d.a(43)}%3D`],
    ["bearer", "bearer", "Authorization: Bearer @@", d.a(40)],
    ["basic", undefined, "authorization: Basic @@", `${d.a(30)}==`],
    ["token header", "authorization", "Authorization: token @@", d.hex(40)],
    ["assignment", "assigned", 'const apiToken = "@@";', d.a(32)],
    ["typed assignment", undefined, 'let api_key: &str = "@@";', d.a(32)],
    ["bytes", undefined, "SECRET_KEY = b'@@'", d.a(32)],
    ["escaped JSON", undefined, '"{\\"client_secret\\":\\"@@\\"}"', d.a(32)],
    ["npm registry", undefined, "//registry.npmjs.org/:_authToken=@@", d.uuid()],
    ["Azure storage", undefined, "AccountName=a;AccountKey=@@;EndpointSuffix=core", `${d.base64(86)}==`],
    ["short password", "short-password", 'password: "@@"', CHOSEN],
    ["connection string", "connection-string", "Server=db;User Id=sa;Password=@@;Encrypt=yes", WORDS],
    ["flag", "flag", "tool login --password @@ --now", CHOSEN],
    ["call", "call", 'client.password("@@")', `${CHOSEN}${CHOSEN}`],
    ["XML", "xml", "<password>@@</password>", WORDS],
    ["XML attribute", "xml-attribute", '<add key="DbPassword" value="@@" />', CHOSEN],
    ["netrc", "netrc", "machine api.example.com login ann password @@", WORDS],
    ["netrc in lines", undefined, "machine api.example.com\n  login ann\n  password @@\n", WORDS],
    ["curl", "user-option", "curl -s -u ann:@@ https://api.example.com", WORDS],
    ["mysql", "database-option", "mysql -h db -u root -p@@ shop", WORDS],
    ["sshpass", "sshpass", "sshpass -p @@ ssh ann@host", WORDS],
    ["YAML block", "yaml-block", "secret: |\n  @@\n", d.a(28)],
    ["YAML block password", undefined, "db_password: >-\n    @@\nport: 5432\n", CHOSEN],
    ["company", "company", 'datadog: "@@"', d.hex(40)],
    ["okta", undefined, 'OKTA = "@@"', d.a(42)],
    ["define", "define", '#define WIFI_PASS "@@"', CHOSEN],
    ["define key", undefined, '#define API_KEY "@@"', d.a(32)],
    ["properties", "properties-password", "spring.datasource.password=@@\n", "Tr0ub4dor"],
    ["YAML", undefined, "database:\n  password: @@\n  port: 5432\n", "correct9horse"],
    ["pgpass", "pgpass", "localhost:5432:shop:ann:@@", WORDS],
  ];
}

function environmentTexts(d: Draw): Text[] {
  return [
    ["PGPASSWORD", "environment-password", "export PGPASSWORD=@@", WORDS],
    ["DB_PASS", undefined, "DB_PASS=@@", WORDS],
    ["MYSQL_PWD", undefined, "MYSQL_PWD='@@'", WORDS],
    ["compose", undefined, "      POSTGRES_PASSWORD: @@\n", CHOSEN],
    ["APP_KEY", undefined, "APP_KEY=base64:@@", `${d.base64(43)}=`],
    ["API_AUTH", "environment-secret", "API_AUTH=@@", "ann:s3cr3t"],
    ["AZURE_DEVOPS_EXT_PAT", undefined, "AZURE_DEVOPS_EXT_PAT=@@", d.lower(52)],
    ["SECRET_KEY_BASE", undefined, "SECRET_KEY_BASE=@@", d.hex(128)],
    ["AWS_SECRET_ACCESS_KEY", undefined, "AWS_SECRET_ACCESS_KEY=@@", d.base64(40)],
    ["DATABASE_URL", undefined, "DATABASE_URL=mysql://root:@@@db/shop", CHOSEN],
    ["SENTRY_DSN", undefined, "SENTRY_DSN=https://@@@sentry.example.com/1", d.hex(32)],
  ];
}
