/**
 * The variables that a command gets: those that tell tools where they are and how to build, from the user's
 * environment, and none that holds a secret. Everything else stays outside, because a name tells nothing about a value.
 */
import { maskSecrets, secretValues } from "../domain/secrets/redaction.ts";
import { searchPath } from "../platform/programs.ts";
import { commandPolicy } from "./command-policy.ts";
import { toolVariables } from "./tool-directories.ts";
import type { Environment } from "../domain/values/environment.ts";

/**
 * Not among them: variables that make a program load another one from a place that is hidden (NODE_OPTIONS,
 * LD_PRELOAD), and the places of caches, which have their usual place below the command's own home (package-caches.ts).
 */
const USUAL = new Set(
  `
  ANDROID_HOME ANDROID_SDK_ROOT ASDF_DATA_DIR ASDF_DIR CAML_LD_LIBRARY_PATH CARGO_BUILD_TARGET CARGO_TERM_COLOR CC
  CFLAGS CGO_ENABLED CHROME_BIN CLASSPATH COLORTERM CONDA_DEFAULT_ENV CONDA_PREFIX CPATH CPPFLAGS CXX CXXFLAGS
  C_INCLUDE_PATH DOTNET_ROOT FNM_DIR GEM_HOME GEM_PATH GO111MODULE GOARCH GOFLAGS GOOS GOPRIVATE GOROOT GRADLE_HOME
  GRADLE_OPTS JAVA_HOME JDK_HOME KOTLIN_HOME LANG LANGUAGE LDFLAGS LD_LIBRARY_PATH LIBRARY_PATH MAVEN_HOME MAVEN_OPTS
  MISE_DATA_DIR MIX_ENV NODE_ENV NODE_PATH NVM_BIN NVM_DIR OPAM_SWITCH_PREFIX PERL5LIB PKG_CONFIG_PATH
  PLAYWRIGHT_BROWSERS_PATH PYENV_ROOT PYENV_VERSION PYTHONPATH RBENV_ROOT RBENV_VERSION RUSTFLAGS RUSTUP_HOME
  RUSTUP_TOOLCHAIN RUST_BACKTRACE SDKMAN_DIR SSL_CERT_DIR SSL_CERT_FILE TZ VIRTUAL_ENV VOLTA_HOME
`
    .trim()
    .split(/\s+/),
);

/**
 * Python takes compiled code for new while the source has the same size and the same second in its time. A model that
 * is quick edits and runs the tests within one second, and saw the result of the code before its edit.
 */
const NO_STALE_CODE = { PYTHONDONTWRITEBYTECODE: "1" };

export function commandEnvironment(
  home: string,
  user: Environment = commandPolicy().environment,
): Record<string, string | undefined> {
  const fixed = { HOME: home, TERM: "dumb", GIT_TERMINAL_PROMPT: "0", CI: "1" };
  const path = searchPath(user["PATH"]);
  return { LANG: "C.UTF-8", ...NO_STALE_CODE, ...toolVariables(), ...givenVariables(user), PATH: path, ...fixed };
}

function givenVariables(user: Environment): Environment {
  const { variables } = commandPolicy();
  const secrets = secretValues(user);
  const given = Object.entries(user).filter(
    ([name, value]) =>
      value !== undefined && (variables.includes(name) || (isUsual(name) && !holdsSecret(name, value, secrets))),
  );
  return Object.fromEntries(given);
}

function isUsual(name: string): boolean {
  return USUAL.has(name) || name.startsWith("LC_");
}

function holdsSecret(name: string, value: string, secrets: readonly string[]): boolean {
  // `-Dpassword=word`: a password that is a word is known only by its name.
  if (/(?:pass(?:word|wd|phrase)|secret|token|key|credential)[\w.-]*[=:]\S/i.test(value)) return true;
  return secretValues({ [name]: value }).length > 0 || maskSecrets(`${name}=${value}`, secrets).masked > 0;
}
