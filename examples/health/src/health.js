import { database } from "./database.js";

/** What GET /health answers. */
export async function health() {
  const up = await database.ping();
  return { status: up ? 200 : 500 };
}
