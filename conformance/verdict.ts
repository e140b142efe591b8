import type { Tried } from "./plan-world.ts";

export type Verdict = { readonly passed: string } | { readonly failed: string } | { readonly skipped: string };

export interface Row {
  readonly name: string;
  readonly test: (tried: Tried) => Promise<Verdict>;
}
