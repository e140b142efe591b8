/**
 * Tests of what commands, hooks and validations can do. They run with the confinement that works on this machine, and
 * once more with what takes over where bubblewrap is missing, so that both ways hold. Only those in which it makes a
 * difference, because minutes count.
 */
export const COMMAND_TESTS: readonly string[] = [
  "src/cli/confinement-required.integration.test.ts",
  "src/cli/hooks.integration.test.ts",
  "src/cli/validation.integration.test.ts",
  "src/confinement/",
  "src/execution/tools/shell-tool.integration.test.ts",
  "src/execution/steps/work-steps.test.ts",
];
