/** Each form of a secret has an example of its own: a form that is dropped is then missed here. */
import { expect, test } from "vitest";
import { heldKey, maskSecrets } from "./redaction.ts";

/** Put together here, so that no scanner takes this file for a leak. */
const letters = (length: number): string => "aB3dE5gH7jK9mN1pQ2sT4vW6xY8z".repeat(20).slice(0, length);
const hexadecimal = (length: number): string => "3f9a1c7e5b2d8046".repeat(20).slice(0, length);

test.each([
  ["a Docker personal token", `dckr_pat_${letters(27)}`],
  ["a Docker organization token", `dckr_oat_${letters(32)}`],
  ["a Vault service token", `hvs.${letters(90)}`],
  ["a Vault batch token", `hvb.${letters(120)}`],
  ["a Databricks token", `dapi${hexadecimal(32)}`],
  ["a DigitalOcean OAuth token", `doo_v1_${hexadecimal(64)}`],
  ["a temporary AWS key", `ASIA${letters(16).toUpperCase()}`],
  ["a GitLab deploy token", `gldt-${letters(20)}`],
  ["a restricted Stripe key", `rk_live_${letters(24)}`],
])("%s", (_, secret) => {
  const { text, masked } = maskSecrets(`before ${secret} after`);
  expect([text.includes(secret), masked]).toEqual([false, 1]);
  expect(text).toMatch(/^before \[masked: [A-Za-z ]+\] after$/);
  expect(heldKey(`x=${secret}`)).toBeDefined();
});
