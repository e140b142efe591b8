/** What happens while a plan is carried out, as it happens: for whoever watches. Nothing is decided by it, and nothing waits for it. */
export type RunEvent =
  | {
      readonly kind: "step";
      readonly step: string;
      readonly text: string;
      readonly event: "started" | "done" | "failed" | "recorded";
      readonly durationMs: number;
    }
  | { readonly kind: "context"; readonly step: string; readonly tokens: number }
  | { readonly kind: "asking"; readonly step: string; readonly model: string }
  | { readonly kind: "text"; readonly step: string; readonly soFar: string }
  | {
      readonly kind: "answered";
      readonly step: string;
      readonly inputTokens: number;
      readonly outputTokens: number;
      /** In millionths of a dollar; undefined when the price is not known. */
      readonly cost: number | undefined;
      readonly durationMs: number;
    }
  | { readonly kind: "tool-started"; readonly step: string; readonly tool: string; readonly target: string }
  | {
      readonly kind: "tool-ended";
      readonly step: string;
      readonly tool: string;
      readonly target: string;
      readonly durationMs: number;
      readonly error: string | undefined;
    }
  /** A hook or validation. */
  | {
      readonly kind: "check";
      readonly name: string;
      readonly resource: string;
      readonly event: "started" | "done" | "passed" | "failed" | "skipped" | "recorded";
      readonly durationMs: number;
    };
