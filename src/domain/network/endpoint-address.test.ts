import { expect, test } from "vitest";
import { isForbiddenHost, isLocalHost } from "./endpoint-address.ts";
import { baseUrlProblem } from "../settings/provider-settings.ts";

const hostOf = (url: string): string => new URL(url).hostname;

test.each([
  "http://169.254.169.254",
  "http://169.254.0.1:8080/v1",
  "http://2852039166/",
  "http://0xa9fea9fe/",
  "http://0xa9.0xfe.0xa9.0xfe/",
  "http://0251.0376.0251.0376/",
  "http://169.254.43518/",
  "http://[::ffff:169.254.169.254]/",
  "http://[::ffff:a9fe:a9fe]/",
  "http://[0:0:0:0:0:ffff:a9fe:a9fe]/",
  "http://[::169.254.169.254]/",
  "http://[64:ff9b::a9fe:a9fe]/",
  "http://[2002:a9fe:a9fe::]/",
  "http://[fe80::1]/",
  "http://[febf::1]/",
  "http://[fd00:ec2::254]/",
  "http://[fd00:0ec2:0:0::254]/",
  "http://100.100.100.200/",
  "http://192.0.0.192/",
  "http://metadata.google.internal/",
  "http://METADATA.google.internal./",
  "http://metadata/",
  "https://169.254.169.254/v1",
  "https://metadata.google.internal/v1",
])("%s is refused as an endpoint, also with https", (url) => {
  expect(isForbiddenHost(hostOf(url))).toBe(true);
  expect(isLocalHost(hostOf(url))).toBe(false);
  expect(baseUrlProblem(url)).toContain("link-local");
});

test.each([
  ["http://localhost:11434", true],
  ["http://127.0.0.1", true],
  ["http://2130706433/", true],
  ["http://[::1]/", true],
  ["http://[::ffff:127.0.0.1]/", true],
  ["http://10.1.2.3", true],
  ["http://192.168.1.4", true],
  ["http://[fd12:3456::1]/", true],
  ["http://models.internal", true],
  ["http://box.local", true],
  ["http://intranet", false],
  ["http://ollama:11434", false],
  ["http://8.8.8.8", false],
  ["http://[2001:db8::1]/", false],
  ["http://[2002:808:808::]/", false],
  ["http://169.254.169.254.example.com", false],
  ["http://metadata.google.internal.example.com", false],
])("%s is on this machine or its own network: %s", (url, local) => {
  expect(isLocalHost(hostOf(url))).toBe(local);
  expect(isForbiddenHost(hostOf(url))).toBe(false);
  expect(baseUrlProblem(url) === undefined).toBe(local);
});

test("a zone does not hide an address", () => {
  expect(isForbiddenHost("fe80::1%eth0")).toBe(true);
});
