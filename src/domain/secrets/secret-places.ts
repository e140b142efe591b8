import { isMember, isName, isPlaceholder, isSwitch, isWords, looksChosen, looksRandom } from "./secret-likeness.ts";

/**
 * Secrets that are known by their shape or by the place where they stand. Each pattern has two groups: what stays, and
 * the secret. Every repetition has a limit, so that the time grows with the text and not faster.
 */
export interface SecretPlace {
  /** Its own; the tests have an example for each. */
  readonly id: string;
  /** As the mask calls it. */
  readonly name: string;
  readonly pattern: string;
  /** A text without this has none. */
  readonly needs?: string;
  /** Not a secret although it stands there. `line` is what stands before it in its line. */
  readonly unless?: (secret: string, before: string, line: string) => boolean;
}

/**
 * Stands at the beginning of the one kind of secret that takes several lines: a piece of it could not be told by
 * itself.
 */
export const SEVERAL_LINES = "PRIVATE KEY";

const W = "[A-Za-z0-9_-]";
const H = "[a-f0-9]";

/** Keys that begin with nothing fixed, but have a shape of their own. Capitals and small letters differ. */
export const SECRET_SHAPES: readonly SecretPlace[] = [
  {
    id: "private-key",
    name: "private key",
    // Also with what quotations, comments, diffs and `git blame` put in front of each line.
    needs: "PRIVATE KEY",
    pattern: `()(-----BEGIN [A-Z0-9 ]{0,40}${SEVERAL_LINES}[A-Z ]{0,10}-----(?:[A-Za-z0-9+/=,:. \\t\\r\\n\\\\"'()^|>#*]|-(?!----)){64,}(?:-----END [A-Z0-9 ]{0,60}-----)?)`,
  },
  {
    id: "signed-token",
    name: "token",
    needs: "eyJ",
    pattern: `(?<![A-Za-z0-9_-])()(eyJ${W}{10,4000}\\.${W}{10,8000}\\.${W}{10,2000})`,
  },
  {
    id: "putty-key",
    name: "private key",
    needs: "Private-Lines",
    pattern: "(Private-Lines: \\d{1,4}\\r?\\n)([A-Za-z0-9+/=\\r\\n]{40,8000})",
  },
  {
    id: "telegram",
    name: "Telegram token",
    needs: ":AA",
    pattern: `(?<![A-Za-z0-9])()(\\d{8,10}:AA${W}{33})(?![A-Za-z0-9_-])`,
  },
  {
    id: "mailchimp",
    name: "Mailchimp key",
    needs: "-us",
    pattern: `(?<![A-Za-z0-9])()(${H}{32}-us\\d{1,2})(?![A-Za-z0-9])`,
  },
  {
    id: "azure-client",
    name: "Azure secret",
    needs: "Q~",
    pattern: "(?<![A-Za-z0-9_~.-])()([A-Za-z0-9_~.]{3}\\dQ~[A-Za-z0-9_~.-]{31,34})(?![A-Za-z0-9_~-])",
  },
  {
    id: "azure-devops",
    name: "Azure token",
    needs: "AZDO",
    pattern: "(?<![A-Za-z0-9])()([A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4})(?![A-Za-z0-9=])",
  },
  {
    id: "one-password-key",
    name: "secret key",
    needs: "A3-",
    pattern:
      "(?<![A-Za-z0-9])()(A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5})",
  },
  {
    id: "maxmind",
    name: "MaxMind key",
    needs: "_mmk",
    pattern: "(?<![A-Za-z0-9_])()([A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk)",
  },
];

/** The text between a secret's name and its value: quotes, a bracket, a type, the sign, quotes. */
const CLOSED = "[\"'`\\\\\\]]{0,3}[ \\t]{0,4}";
const SIGN = "(?:=>|:=|[:=])";
const ASSIGNED = `${CLOSED}(?::[ \\t]{0,2}&?(?:'static )?[A-Za-z]{1,20}[ \\t]{0,2}=|${SIGN})[ \\t]{0,4}(?:[bru]{1,2}(?=["']))?`;
const PASSWORD = "(?:passw(?:or)?d|passwd|passphrase|passcode|pwd|[_-]pass|dbpass)";
const SECRET_WORD = "(?:key|token|secret|passw(?:or)?d|passwd|pwd|passphrase|passcode|_pass|credentials?|auth|dsn)";
/** Whose keys have no form of their own, so that the company's name must do. */
const COMPANIES = [
  "adafruit|airtable|algolia|amplitude|asana|beamer|bitbucket|bittrex|codecov|cohere|coinbase|confluent|contentstack|datadog|deepgram",
  "droneci|etsy|fastly|finicity|finnhub|flickr|freshbooks|gocardless|heroku|hubspot|infracost|intercom|jfrog|kraken|kucoin|linkedin",
  "mattermost|messagebird|mistral|nytimes|okta|opsgenie|pagerduty|pendo|postmark|rapidapi|scalingo|sendbird|snyk|squarespace|sumologic",
  "travisci|trello|twitch|wandb|webflow|zendesk",
].join("|");

/** A random value, or, where the name says password, one that a person chose. */
function isNeither(secret: string, before: string): boolean {
  if (isPlaceholder(secret)) return true;
  if (/pass|pwd/i.test(before) && looksChosen(secret)) return false;
  return !looksRandom(secret) || isName(secret, before);
}

/** Known by what stands before them; capitals do not matter. */
export const SECRET_PLACES: readonly SecretPlace[] = [
  {
    id: "url-password",
    name: "password",
    pattern: "(://[^\\s/:@\"'<>`]{0,100}:)([^\\s/@\"'<>`]{1,200})(?=@)",
    unless: isPlaceholder,
  },
  {
    id: "sentry-dsn",
    name: "Sentry key",
    pattern: `(https?://)(${H}{32})(?=@[a-z0-9.-]{3,100}/\\d)`,
  },
  {
    id: "chat-address",
    name: "webhook address",
    pattern:
      "((?:hooks\\.slack\\.com/(?:services|workflows|triggers)|discord(?:app)?\\.com/api/webhooks|webhook\\.office\\.com/webhookb2|hooks\\.zapier\\.com/hooks/catch)/)([A-Za-z0-9/_@-]{16,200})",
  },
  { id: "azure-sas", name: "Azure signature", pattern: "([?&;]sig=)([A-Za-z0-9%+/=]{40,120})" },
  {
    id: "bearer",
    name: "token",
    pattern: "((?:bearer|basic)[ \\t]{1,4})([A-Za-z0-9._~+/=-]{16,4000})",
    unless: (secret) => !/\d/.test(secret) && isWords(secret),
  },
  {
    id: "authorization",
    name: "token",
    pattern: `(authorization${CLOSED}[:=][ \\t]{0,4}["']?(?:token|ssws|apikey|key|bot|api-?token)[ \\t=]{1,4})([A-Za-z0-9._~+/=-]{16,400})`,
    unless: (secret) => isWords(secret),
  },
  {
    id: "assigned",
    name: "secret",
    pattern: `(${SECRET_WORD}[A-Za-z0-9_-]{0,30}${ASSIGNED}["'\`\\\\]{0,2}(?:base64:)?)([A-Za-z0-9+/=_.~!@#$%^&*-]{12,500})`,
    unless: (secret, before) => isPlaceholder(secret) || !looksRandom(secret) || isName(secret, before),
  },
  {
    id: "short-password",
    name: "password",
    pattern: `(${PASSWORD}[A-Za-z0-9_-]{0,20}${ASSIGNED}["'\`\\\\]{1,2})([^\\s"'\`\\\\]{4,64})(?=["'\`\\\\])`,
    unless: (secret) => !looksChosen(secret),
  },
  {
    id: "connection-string",
    name: "password",
    pattern: "(;[ \\t]{0,3}(?:password|pwd)[ \\t]{0,2}=[ \\t]{0,2})([^;\"'\\s]{1,100})(?=[;\"'\\s]|$)",
    unless: (secret) => isPlaceholder(secret) || isSwitch(secret) || isMember(secret) || /[(){}[\]]/.test(secret),
  },
  {
    id: "flag",
    name: "secret",
    pattern: `(--[a-z-]{0,30}(?:passw(?:or)?d|passphrase|token|secret|api-?key|auth)(?:[ \\t]{1,3}|=)["']?)([^\\s"'\`,)\\]]{6,200})`,
    unless: isNeither,
  },
  {
    id: "call",
    name: "secret",
    pattern: `((?:passw(?:or)?d|passphrase|secret|api_?key|auth_?token)\\([ \\t]{0,2}[bru]{0,2}["'])([^\\s"']{8,200})(?=["'])`,
    unless: isNeither,
  },
  {
    id: "xml",
    name: "password",
    pattern:
      "(<[a-z0-9_.:-]{0,40}(?:passw(?:or)?d|passphrase|pwd|secret|token|api[_-]?key|credential)[a-z0-9_-]{0,10}(?: [^<>]{0,80})?>)([^<>\\s]{3,200})(?=</)",
    unless: (secret, before) =>
      isPlaceholder(secret) || (/pass|pwd/i.test(before) ? /^\{|^pass/i.test(secret) : !looksRandom(secret)),
  },
  {
    id: "xml-attribute",
    name: "password",
    pattern:
      '((?:key|name)="[^"\\n]{0,40}(?:passw(?:or)?d|pwd|secret|token|api[_-]?key)[^"\\n]{0,20}"[ \\t]{1,4}value=")([^"\\s]{4,200})(?=")',
    unless: isNeither,
  },
  {
    id: "netrc",
    name: "password",
    pattern:
      "(\\b(?:machine[ \\t]{1,8}[^\\s]{1,200}|default)\\s{1,20}login\\s{1,8}[^\\s]{1,100}\\s{1,20}password\\s{1,8})([^\\s]{1,200})",
    unless: isPlaceholder,
  },
  {
    id: "user-option",
    name: "password",
    pattern: "([ \\t](?:-u|--user|--proxy-user|-U)[ \\t=]{0,3}[\"']?[^\\s:\"'/]{1,100}:)([^\\s\"'@]{1,200})",
    // `docker run -u 1000:1000` names a group.
    unless: (secret, _, line) => isPlaceholder(secret) || !/\b(?:curl|wget|https?|xh)\b/i.test(line),
  },
  {
    id: "database-option",
    name: "password",
    pattern: "([ \\t]-p[\"']?)([^\\s\"'-][^\\s\"']{3,100})",
    unless: (secret, _, line) => isPlaceholder(secret) || !/\b(?:mysql|mysqldump|mysqladmin|mariadb)\b/i.test(line),
  },
  {
    id: "sshpass",
    name: "password",
    pattern: "(\\bsshpass[ \\t]{1,4}-p[ \\t]{0,4}[\"']?)([^\\s\"']{1,200})",
    unless: isPlaceholder,
  },
  {
    id: "yaml-block",
    name: "secret",
    pattern: `((?:${SECRET_WORD})[a-z0-9_.-]{0,20}["']?:[ \\t]{0,4}[|>][+-]?\\d?[ \\t]{0,4}\\r?\\n[ \\t]{1,40})([^\\s]{4,400})(?=[ \\t\\r]{0,9}(?:\\n|$))`,
    unless: isNeither,
  },
  {
    id: "company",
    name: "key",
    pattern: `((?:${COMPANIES})[a-z0-9_.-]{0,30}${CLOSED}${SIGN}[ \\t]{0,4}["'\`]{1,2})([A-Za-z0-9+/=_.-]{20,200})(?=["'\`])`,
    unless: (secret, before) => !looksRandom(secret) || isName(secret, before),
  },
];

/** A word of a name in capitals, its rest, and the sign. */
const CAPITALS = (words: string): string => `(?<![a-z])((?:${words})[A-Z0-9_]{0,30}`;

/** `Setting.PASSWORD=`: a member of something in code, not a variable. */
function isMemberName(line: string): boolean {
  return /[.$][A-Z0-9_]{0,60}$/.test(line);
}

/** The names of an environment, which are written in capitals, and lines of files that hold nothing else. */
export const SECRET_LINES: readonly SecretPlace[] = [
  {
    id: "environment-password",
    name: "password",
    pattern: `${CAPITALS("PASS|PWD")}["']?(?:=|:[ \\t]{1,4})["']?)([^\\s"';&|,)]{4,200})`,
    unless: (secret, before, line) =>
      isMemberName(line) ||
      isSwitch(secret) ||
      isMember(secret) ||
      /^pass(?:word|wd)?$/i.test(secret) ||
      (!before.includes("=") && !looksChosen(secret)),
  },
  {
    id: "environment-secret",
    name: "secret",
    pattern: `${CAPITALS("SECRET|TOKEN|KEY|AUTH|DSN|CREDENTIAL|(?<=_)PAT(?==)")}=["']?)([^\\s"';&|,)]{8,200})`,
    unless: (secret, _, line) =>
      isMemberName(line) || isSwitch(secret) || !looksChosen(secret) || /^[a-z][a-z+]{1,20}:\/\/|^\w+@/.test(secret),
  },
  {
    id: "define",
    name: "secret",
    pattern: `(#[ \\t]{0,4}define[ \\t]{1,8}[A-Z0-9_]{0,40}(?:KEY|TOKEN|SECRET|PASS|PWD|AUTH|CREDENTIAL)[A-Z0-9_]{0,30}[ \\t]{1,20}[LuU8]{0,2}")([^"\\s]{4,200})(?=")`,
    unless: (secret, before) =>
      isNeither(secret, before) || (!/PASS|PWD/.test(before) && (secret.length < 16 || isHyphenated(secret))),
  },
  {
    id: "properties-password",
    name: "password",
    pattern:
      "((?:[Pp]assword|[Pp]asswd|[Pp]assphrase|[Pp]wd|_pass|\\.pass)[ \\t]{0,4}[:=][ \\t]{0,4})([^\\s\"'`,;]{4,64})(?=[ \\t\\r]{0,9}$)",
    unless: (secret, _, line) =>
      !/^[ \t]*[\w.-]*$/.test(line) || !looksChosen(secret) || /pass|pwd|secret|token|key|string|value/i.test(secret),
  },
  {
    id: "pgpass",
    name: "password",
    pattern: "^([\\w.*-]{1,100}:(?:\\d{4,5}|\\*):[\\w.*-]{1,63}:[\\w.*-]{1,63}:)([^\\s:]{1,200})(?=\\r?$)",
    unless: isPlaceholder,
  },
];

/** "tls13-kdf-key-check": each part begins as a word does. */
function isHyphenated(secret: string): boolean {
  return /^[A-Za-z]\w*(?:-[A-Za-z]\w*)+$/.test(secret);
}
