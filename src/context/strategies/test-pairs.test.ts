import { expect, test } from "vitest";
import { pairingName } from "./test-pairs.ts";

test.each([
  "src/lease.ts",
  "src/lease.test.ts",
  "src/lease.integration.test.ts",
  "test/lease.spec.tsx",
  "pkg/lease_test.go",
  "tests/test_lease.py",
  "src/__tests__/lease.js",
  "src/test/LeaseTest.java",
])("%s belongs to lease", (path) => {
  expect(pairingName(path)).toBe("lease");
});

test("files that are named for their directory belong to it", () => {
  expect(pairingName("a/store/index.ts")).toBe(pairingName("a/store/index.test.ts"));
  expect(pairingName("a/store/index.ts")).not.toBe(pairingName("a/other/index.ts"));
  expect(pairingName("src/latest.ts")).toBe("latest");
});
