/** Which variables of the user's a command gets. */
import { afterEach, expect, test } from "vitest";
import { commandEnvironment } from "./command-environment.ts";
import { setCommandPolicy } from "./command-policy.ts";

afterEach(() => {
  setCommandPolicy({ variables: [] });
});

test("it gets those that say where tools are, and nothing of the rest", () => {
  const given = commandEnvironment("/own", {
    PATH: "/usr/bin:relative",
    JAVA_HOME: "/opt/java",
    VIRTUAL_ENV: "/p/.venv",
    RUSTUP_TOOLCHAIN: "nightly",
    LC_ALL: "C",
    TZ: "UTC",
    NODE_OPTIONS: "--require /hidden.js",
    CARGO_HOME: "/home/u/.cargo",
    GITHUB_TOKEN: "ghp_0123456789012345678901234567890123456",
    EDITOR: "vi",
    HOME: "/home/u",
  });
  expect(given).toMatchObject({
    PATH: "/usr/bin",
    HOME: "/own",
    JAVA_HOME: "/opt/java",
    VIRTUAL_ENV: "/p/.venv",
    RUSTUP_TOOLCHAIN: "nightly",
    LC_ALL: "C",
    TZ: "UTC",
    CI: "1",
    PYTHONDONTWRITEBYTECODE: "1",
  });
  for (const name of ["NODE_OPTIONS", "CARGO_HOME", "GITHUB_TOKEN", "EDITOR"]) expect(given).not.toHaveProperty(name);
});

test.each([
  ["MAVEN_OPTS", "-Dpassword=hunter2hunter2 -Xmx1g"],
  ["GRADLE_OPTS", "-DapiKey=sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD"],
  ["CFLAGS", "-DTOKEN=ghp_0123456789012345678901234567890123456"],
  ["GOFLAGS", "-proxy=https://me:s3cr3tpassw0rd@proxy.example.org"],
])("a usual variable that holds a secret stays outside: %s", (name, value) => {
  expect(commandEnvironment("/own", { [name]: value })).not.toHaveProperty(name);
});

test("a usual variable that repeats the secret of another one stays outside", () => {
  const user = { DEPLOY_TOKEN: "vq8Zt1Lm0Xw7", CFLAGS: "-DT=vq8Zt1Lm0Xw7" };
  expect(commandEnvironment("/own", user)).not.toHaveProperty("CFLAGS");
});

test("the setting gives more, also a secret, but neither another home nor another PATH", () => {
  setCommandPolicy({ variables: ["DATABASE_URL", "HOME", "PATH"] });
  const given = commandEnvironment("/own", {
    DATABASE_URL: "postgres://u:pw123456@localhost/test",
    HOME: "/home/u",
    PATH: "/usr/bin",
  });
  expect(given).toMatchObject({ DATABASE_URL: "postgres://u:pw123456@localhost/test", HOME: "/own", PATH: "/usr/bin" });
});
