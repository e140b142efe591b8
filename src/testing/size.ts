/**
 * How much a test tries, in one place. `CLEVERAGENTS_TEST_SIZE` chooses: `quick` is the inner loop, `normal` is what a
 * change must pass, `full` is the proof before a release. A smaller size tries fewer seeds, schedules and moments, not
 * fewer kinds of them.
 */
export const SIZES = ["quick", "normal", "full"] as const;
type TestSize = (typeof SIZES)[number];

export const TEST_SIZE: TestSize = readSize(process.env["CLEVERAGENTS_TEST_SIZE"]);

/**
 * The value for the size of this run; `quick` is as `normal` where it is left out.
 *
 *     const SCHEDULES = sized({ quick: 100, normal: 1_000, full: 20_000 });
 */
export function sized<T>(values: { readonly quick?: T; readonly normal: T; readonly full: T }): T {
  return (TEST_SIZE === "quick" ? values.quick : undefined) ?? (TEST_SIZE === "full" ? values.full : values.normal);
}

function readSize(text: string | undefined): TestSize {
  const size = SIZES.find((known) => known === (text ?? "normal"));
  if (size === undefined) throw new Error(`CLEVERAGENTS_TEST_SIZE must be one of ${SIZES.join(", ")}, not "${text}"`);
  return size;
}
