/** The same suite as for SQLite, on the newest PostgreSQL and on the oldest supported one where it is installed. */
import { describeStore } from "../testing/conformance.ts";
import { StoreFixture } from "../testing/fixtures.ts";
import { missingServer, SERVER_KINDS } from "../testing/postgres-server.ts";

for (const kind of SERVER_KINDS) {
  describeStore(`on PostgreSQL (${kind})`, () => StoreFixture.postgres(kind), missingServer(kind));
}
