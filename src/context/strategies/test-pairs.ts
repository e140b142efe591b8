/**
 * Which tests belong to which file, by the conventions of names: `lease.test.ts`, `lease.integration.test.ts`,
 * `lease_test.go`, `test_lease.py`, `LeaseTest.java` and `__tests__/lease.ts` all belong to `lease`.
 */
const ENDINGS = /(?:[._-](?:test|tests|spec|integration|property|unit|e2e))+$/i;

/** Equal for a file and its tests. A file named for its directory is told by the directory. */
export function pairingName(path: string): string {
  const parts = path.split("/");
  const stem = (parts.at(-1) ?? "").replace(/(?:\.[cm]?[jt]sx?|\.\w+)$/, "");
  const name = stem
    .replace(ENDINGS, "")
    .replace(/^tests?_/i, "")
    .replace(/(?<=[a-z\d])Tests?$/, "")
    .toLowerCase();
  return /^(?:index|main|mod|__init__)$/.test(name) ? `${parts.at(-2) ?? ""}/${name}` : name;
}
