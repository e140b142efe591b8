/** A session as one file: requests, answers, decisions, diffs and costs, with secrets masked. */
import { hash } from "node:crypto";
import * as z from "zod";
import type { Session } from "../../domain/plan/session.ts";
import { maskedText } from "../../platform/masking.ts";
import type { App } from "../base/app.ts";
import { VERSION } from "../base/package-version.ts";
import { toWire } from "../base/wire.ts";
import { factsOf, SessionFacts } from "./session-facts.ts";
import { sessionMarkdown } from "./session-markdown.ts";
import { TurnFacts, turnsWithFacts } from "./session-turn-facts.ts";

/** Raised when a key changes its meaning or goes; new keys may come. */
const SCHEMA_VERSION = 1;

const SessionExport = z.strictObject({
  schemaVersion: z.literal(SCHEMA_VERSION),
  program: z.string(),
  session: SessionFacts,
  /** Each with its decisions and its patch. */
  turns: z.array(TurnFacts.extend({ patch: z.string() })),
});

export type SessionExport = z.output<typeof SessionExport>;

export async function sessionExport(app: App, session: Session): Promise<SessionExport> {
  const facts = await (await app.store()).read((reader) => factsOf(reader, session.id));
  const turns = await turnsWithFacts(app, session, { decisions: true });
  return {
    schemaVersion: SCHEMA_VERSION,
    program: `cleveragents ${VERSION}`,
    session: { ...facts, title: maskedText(facts.title) },
    turns: turns.map(({ turn, facts: one }) => ({ ...one, patch: maskedText(turn.diff.patch) })),
  };
}

export function exportText(
  exported: SessionExport,
  as: "markdown" | "json",
): { readonly text: string; readonly checksum: string } {
  const wire = toWire(SessionExport, exported, (step) => step) as object;
  const checksum = `sha256:${hash("sha256", JSON.stringify(wire))}`;
  const text = as === "json" ? JSON.stringify({ ...wire, checksum }, null, 2) : sessionMarkdown(exported);
  return { text: `${text.trimEnd()}\n`, checksum };
}
