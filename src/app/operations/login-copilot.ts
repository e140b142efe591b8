/** Logs in with GitHub by a code that the user types there, and keeps the token with the API keys. */
import * as z from "zod";
import { COPILOT, copilotLogin } from "../../actors/providers/copilot.ts";
import { awaitToken, requestCode } from "../../actors/providers/device-login.ts";
import { ConfigurationError } from "../../domain/errors/errors.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import { credentialsFile, setCredential } from "../../platform/settings/credentials.ts";
import { defineOperation } from "../base/operation.ts";

export const operation = defineOperation({
  input: z.strictObject({}),
  output: z.strictObject({ provider: z.string(), path: z.string() }),
  run: async (app, _input, call) => {
    const { value: github = "" } = await app.setting("login.github-url");
    const { value: clientId } = await app.setting("login.github-client-id");
    if (clientId === undefined) {
      throw new ConfigurationError("GitHub wants to know which program logs in, and no id of one is set.", {
        kept: "Nothing was sent.",
        next: [
          { text: `make an OAuth app with the device flow at ${github}/settings/applications/new` },
          nextStep("config.set", { key: "login.github-client-id", value: "<client id>" }),
        ],
      });
    }
    const login = copilotLogin(github, clientId);
    const code = await requestCode(login, call.signal);
    call.tell({
      type: "notice",
      level: "info",
      text: `Open ${code.verificationUrl} and type the code ${code.userCode}`,
    });
    const token = await awaitToken(login, code, { signal: call.signal });
    // Makes the data directory where it is missing.
    await app.store();
    const { dataDir } = app.paths;
    await setCredential(dataDir, { key: `provider.${COPILOT}.api-key`, value: token }, async () => undefined);
    return { provider: COPILOT, path: credentialsFile(dataDir) };
  },
});
