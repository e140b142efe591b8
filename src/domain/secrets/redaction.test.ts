import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { seededRandom } from "../../testing/random.ts";
import { holdsMask, maskJson, maskSecrets, secretValues } from "./redaction.ts";

/** Put together here, so that no scanner takes this file for a leak. */
const letters = (length: number): string => "aB3dE5gH7jK9mN1pQ2sT4vW6xY8z".repeat(20).slice(0, length);
const hexadecimal = (length: number): string => "3f9a1c7e5b2d8046".repeat(20).slice(0, length);

const PEM = [
  "-----BEGIN RSA PRIVATE KEY-----",
  "Proc-Type: 4,ENCRYPTED",
  "",
  letters(64),
  letters(64),
  "-----END RSA PRIVATE KEY-----",
].join("\n");

const SECRETS: readonly (readonly [name: string, secret: string])[] = [
  ["an OpenAI key", `sk-${letters(48)}`],
  ["an OpenAI project key", `sk-proj-${letters(40)}_${letters(20)}-${letters(20)}`],
  ["an Anthropic key", `sk-ant-api03-${letters(90)}-AA`],
  ["a Google key", `AIza${letters(35)}`],
  ["an AWS key", `AKIA${letters(16).toUpperCase()}`],
  ["a GitHub token", `ghp_${letters(36)}`],
  ["a fine-grained GitHub token", `github_pat_${letters(22)}_${letters(59)}`],
  ["a GitLab token", `glpat-${letters(20)}`],
  ["a Slack token", `xoxb-1234567890-${letters(24)}`],
  ["a Stripe key", `sk_live_${letters(24)}`],
  ["an npm token", `npm_${letters(36)}`],
  ["a Hugging Face token", `hf_${letters(34)}`],
  ["a Groq key", `gsk_${letters(52)}`],
  ["a PyPI token", `pypi-${letters(60)}`],
  ["a DigitalOcean token", `dop_v1_${hexadecimal(64)}`],
  ["a SendGrid key", `SG.${letters(22)}.${letters(43)}`],
  ["an age key", `AGE-SECRET-KEY-1${letters(58).toUpperCase()}`],
  ["a signed token", `eyJ${letters(30)}.eyJ${letters(60)}.${letters(43)}`],
  ["a private key", PEM],
  ["a private key in one line", PEM.replaceAll("\n", "\\n")],
  ["a private key that was cut", `-----BEGIN PRIVATE KEY-----\n${letters(64)}\n${letters(30)}`],
];

describe("known kinds of secrets", () => {
  test.each(SECRETS)("%s is masked in every place", (name, secret) => {
    for (const [before, after] of [
      ["", ""],
      ["see ", " there"],
      ['{"a":"', '"}'],
      ["x=", "\n"],
      ["(", ")"],
      ["`", "`"],
      ["https://h/?k=", "&b=1"],
    ]) {
      const { text, masked } = maskSecrets(`${before}${secret}${after}`);
      expect(masked).toBe(1);
      expect(text).toMatch(/\[masked: [A-Za-z ]+\]/);
      expect(text).not.toContain(secret.slice(-12));
      expect(text.startsWith(before ?? "")).toBe(true);
      // The end of a key that was cut is not known.
      if (!name.includes("cut")) expect(text.endsWith(after ?? "")).toBe(true);
    }
  });

  test.each([
    ["postgres://ann:hunter2@db/x", "postgres://ann:[masked: password]@db/x"],
    ["https://:tok3n@example.com", "https://:[masked: password]@example.com"],
    [`Authorization: Bearer ${hexadecimal(32)}`, "Authorization: Bearer [masked: token]"],
    [`authorization: basic ${letters(24)}==`, "authorization: basic [masked: token]"],
    [`API_KEY=${hexadecimal(20)}`, "API_KEY=[masked: secret]"],
    [`"db_password": "${letters(16)}",`, '"db_password": "[masked: secret]",'],
    [`aws_secret_access_key = ${letters(40)}`, "aws_secret_access_key = [masked: secret]"],
    [`const token = '${letters(24)}';`, "const token = '[masked: secret]';"],
    [`:secret => "${hexadecimal(40)}"`, ':secret => "[masked: secret]"'],
    [`AccountKey=${letters(86)}==;Endpoint`, "AccountKey=[masked: secret];Endpoint"],
    [
      `https://hooks.slack.com/services/T00000000/B00000000/${letters(24)}`,
      "https://hooks.slack.com/services/[masked: webhook address]",
    ],
  ])("%s is seen by what stands before it", (text, expected) => {
    expect(maskSecrets(text)).toEqual({ text: expected, masked: 1 });
  });
});

describe("what only looks like one", () => {
  test.each([
    "const key = process.env.OPENAI_API_KEY;",
    "password: ${DB_PASSWORD}",
    "postgres://user:<password>@host/db and postgres://user:$PASS@host",
    "tokenizer: o200k_base",
    "PWD=/tmp/cleveragents-sandboxes-mgz4yU/01M7HQRHB94199VMD23FD9TKSR/1/api/tree",
    "apiKey: config.providers.openai.apiKey",
    "class sk-fading-circle-container-large",
    "the key is under the mat; token by token",
    'if (token === "access_token_expired") return;',
    "-----BEGIN PRIVATE KEY-----",
    'const BEGIN = "-----BEGIN RSA PRIVATE KEY-----"; if (text.startsWith(BEGIN)) { parse(text); } else { throw new Error(); }',
    "a bearer of good news arrives",
    "http://localhost:8080/a@b",
    "mailto:ann@example.com see http://example.com:80/x",
    "cache_key: user-profile-page",
    "monkey=banana keyboard: qwertz-layout",
    "sha256-hash 3f9a1c7e5b2d80463f9a1c7e5b2d8046",
    "this.senderCurve25519Key = decryptionResult.senderCurve25519Key ?? null;",
    "const publicKey = P256.getPublicKey({ privateKey })",
    'RegistrationToken = "org.matrix.msc3231.login.registration_token",',
    'const keyAlgorithm = "signed_curve25519";',
    "password = credentials2.databasePassword",
    "token: '0x5C221E77624690fff6dd741493D735a17716c26B'",
    "docker run -u 1000:1000 image",
    "PASS=0 FAIL=1 PASS=$((PASS+1)) PWD=/srv/app SKIP_AUTH=true",
    "password: string; password?: 'required' | 'optional'; label: 'Password'",
    "<password>Passwort</password> <token>{{ token }}</token>",
    "login form password field",
    '# define OSSL_PROV_PARAM_TLS13_KDF_KEY_CHECK "tls13-kdf-key-check"',
    "src/a.ts:1234:b:c d",
    "USERNAME_PASSWORD: 0x02,",
    "MAX_TOKENS=8000 KEY_FILE=./id_rsa AUTH_URL=https://login.example.com/oauth2",
  ])("%s stays", (text) => {
    expect(maskSecrets(text)).toEqual({ text, masked: 0 });
  });

  test("but a password of words and digits is one", () => {
    expect(maskSecrets('password = "sunshine2019battery"').masked).toBe(1);
  });

  const ALPHABETS = {
    base64: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
    hexadecimal: "0123456789abcdef",
    base32: "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
    base36: "abcdefghijklmnopqrstuvwxyz0123456789",
  };
  test.each(Object.entries(ALPHABETS))("and random text is hardly ever taken for a name: %s", (_, alphabet) => {
    const random = seededRandom(20_261);
    const missed = Array.from({ length: 2_000 }, () => {
      const drawn = Array.from({ length: 32 }, () => alphabet[Math.floor(random() * alphabet.length)]).join("");
      return maskSecrets(`api_token = "${drawn}"`).masked;
    }).filter((masked) => masked !== 1).length;
    expect(missed / 2_000).toBeLessThan(0.01);
  });

  test("our own source has none", async () => {
    const { globSync, readFileSync } = await import("node:fs");
    const found = globSync("src/{domain,platform,store,ledger,catalog,plans,runs}/**/*.ts").filter(
      (file) => !/\.test\.ts$|\/testing\//.test(file) && maskSecrets(readFileSync(file, "utf8")).masked > 0,
    );
    expect(found).toEqual([]);
  });
});

describe("configured values", () => {
  test("are masked in any form, the longer first", () => {
    const known = secretValues({
      MY_TOKEN: "plain words",
      A_KEY: "correct-horse",
      B_SECRET: "correct-horse-battery",
      PATH: "/usr/bin",
      KEYBOARD_LAYOUT: "qwertz-layout",
      TOKEN_LIMIT: "1000000000",
      SSH_KEY_FILE: "/home/a/.ssh/id",
      SHORT_KEY: "abc",
    });
    expect(known).toEqual(["correct-horse-battery", "correct-horse"]);
    expect(maskSecrets("correct-horse-battery or correct-horse", known)).toEqual({
      text: "[masked: configured key] or [masked: configured key]",
      masked: 2,
    });
  });

  test.each([
    "PGPASSWORD",
    "DB_PASS",
    "MYSQL_PWD",
    "MYAUTH",
    "SENTRY_DSN",
    "APIKEY",
    "dbpass",
    "GOOGLE_CREDENTIALS",
    "GH_PAT",
  ])("%s is named like one", (name) => expect(secretValues({ [name]: "swordfish" })).toEqual(["swordfish"]));

  test.each([
    ["GIT_AUTHOR_EMAIL", "ann@example.com"],
    ["KEYCLOAK_URL", "https://login.example.com/realms"],
    ["TOKEN_ENDPOINT", "https://login.example.com/token"],
    ["SSH_AUTH_SOCK", "/run/user/1000/agent.sock"],
    ["PWD", "/home/ann/work"],
    ["PASSENGER_APP_ENV", "production"],
  ])("%s is not", (name, value) => expect(secretValues({ [name]: value })).toEqual([]));

  test("the password in an address is one, as it is written and as it is meant", () => {
    const environment = {
      DATABASE_URL: "postgres://app:correct%2Fhorse@db.example/shop",
      HOMEPAGE: "https://example.com",
    };
    expect(secretValues(environment)).toEqual(["correct%2Fhorse", "correct/horse"]);
  });

  test("a name that only has the letters of one counts if the value looks random", () => {
    expect(secretValues({ KEYDATA: hexadecimal(32), KEYNOTE: "opening-session" })).toEqual([hexadecimal(32)]);
  });

  test("too short ones would mask half of every text", () => {
    expect(maskSecrets("a key", ["a"]).masked).toBe(0);
  });
});

describe("masking", () => {
  const piece = fc.oneof(
    fc.constantFrom(...SECRETS.map(([, secret]) => secret)),
    fc.string({ maxLength: 40 }),
    fc.constantFrom("key=", "://a:", "@h", "Bearer ", "\n"),
  );

  test("is the same every time, and masks nothing twice", () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const once = maskSecrets(pieces.join(" "));
        expect(maskSecrets(pieces.join(" "))).toEqual(once);
        expect(maskSecrets(once.text)).toEqual({ text: once.text, masked: 0 });
        expect(holdsMask(once.text)).toBe(once.masked > 0 || holdsMask(pieces.join(" ")));
      }),
      { numRuns: 300 },
    );
  });

  test("reaches every string of a value, and knows a key by its name", () => {
    const value = {
      list: [`ghp_${letters(36)}`, { password: letters(16) }],
      [`sk-${letters(30)}`]: 1,
      n: 2,
      none: null,
      words: "plain",
    };
    const { value: safe, masked } = maskJson(value);
    expect(masked).toBe(3);
    expect(safe).toEqual({
      list: ["[masked: GitHub token]", { password: "[masked: secret]" }],
      "[masked: API key]": 1,
      n: 2,
      none: null,
      words: "plain",
    });
  });

  /** Beginnings of secrets again and again: each could be the one that matches, and none does. */
  const HOSTILE: readonly string[] = [
    "a",
    "A",
    "-",
    "\n",
    "\"'",
    "key",
    "key    =    ",
    "-----BEGIN PRIVATE KEY-----\n",
    "eyJaaaaaaaaaaaa-",
    "eyJaaaaaaaaaaaa.",
    "://a:b",
    "sk-",
    "bearer a1-",
    "PASS",
    "_pass",
    "password='",
    "<password ",
    "machine a login ",
    "machine\n",
    " -u a",
    "secret: |\n ",
    "a.b:5432:",
    "#define KEY",
    "datadog",
    "a,b;password=",
    "Private-Lines: 1\n",
    "aaa1Q~",
    "12345678:AA",
  ];

  test.each(HOSTILE)("four times as much of %j takes about four times as long", (piece) => {
    const [small, large] = [0.5, 2].map((megabytes) => piece.repeat(Math.ceil((megabytes * 1e6) / piece.length)));
    const took = (text = ""): number => {
      const begun = performance.now();
      maskSecrets(text);
      return performance.now() - begun;
    };
    // Time that grows with the square of the size would be sixteen times as long.
    const linear = (): boolean => took(large) / Math.max(took(small), 5) < 10;
    // An expression that is slow by nature is slow every time; what the machine does besides is not.
    expect([1, 2, 3].some(linear)).toBe(true);
  });
});
