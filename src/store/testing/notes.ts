/** The tables that the conformance suite works on: notes, each text once, and two counters that always agree. */
import type { Reader, Store, Tx } from "../port.ts";
import type { StoreFixture } from "./fixtures.ts";

export type OpenFixture = () => Promise<StoreFixture>;

/** A store with a table of notes. */
export async function notes(open: OpenFixture): Promise<StoreFixture> {
  const fixture = await open();
  await fixture.store.transaction((tx) => tx.run("CREATE TABLE notes (text TEXT PRIMARY KEY)"));
  return fixture;
}

export async function note(tx: Tx, text: string): Promise<void> {
  await tx.run("INSERT INTO notes (text) VALUES (?)", text);
}

export async function allNotes(store: Store): Promise<string[]> {
  const rows = await store.read((reader) => reader.all<{ text: string }>("SELECT text FROM notes"));
  return rows.map(({ text }) => text).sort();
}

export async function counter(reader: Reader, name: string): Promise<number> {
  const row = await reader.get<{ n: number }>("SELECT n FROM counters WHERE name = ?", name);
  return row?.n ?? -1;
}

export function counters(store: Store): Promise<{ left: number; right: number }> {
  return store.read(async (reader) => ({ left: await counter(reader, "left"), right: await counter(reader, "right") }));
}
