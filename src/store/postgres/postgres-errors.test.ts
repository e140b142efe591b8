import { expect, test } from "vitest";
import { StoreError, UnitOfWorkError } from "../../domain/errors/errors.ts";
import { isConflict, isConnectionLoss, isDuplicate, storeError } from "./postgres-errors.ts";

function databaseError(code: string | undefined, message = "it failed"): Error {
  return Object.assign(new Error(message), code === undefined ? {} : { code });
}

test.each([
  ["40001", "conflict", "store_busy"],
  ["40P01", "conflict", "store_busy"],
  ["55P03", "conflict", "store_busy"],
  ["57014", "other", "store_busy"],
  ["23505", "duplicate", "store_failed"],
  ["53100", "other", "store_full"],
  ["42P01", "other", "store_failed"],
  ["57P01", "lost", "store_failed"],
  ["25P03", "lost", "store_failed"],
  ["53300", "lost", "store_failed"],
  ["ECONNRESET", "lost", "store_failed"],
  [undefined, "lost", "store_failed"],
] as const)("SQLSTATE %s is a %s, and %s for the caller", (code, kind, shown) => {
  const error = databaseError(code);
  const found = [
    isConflict(error) && "conflict",
    isDuplicate(error) && "duplicate",
    isConnectionLoss(error) && "lost",
  ].find((one) => one !== false);
  expect(found ?? "other").toBe(kind);
  expect(storeError(error, "postgres://db/x")).toMatchObject({ code: shown, cause: error });
});

test("errors of ours, and anything else that was thrown, stay as they are", () => {
  for (const error of [new UnitOfWorkError("mine"), new StoreError("store_busy", "mine"), "thrown"]) {
    expect(storeError(error, "postgres://db/x")).toBe(error);
    expect([isConnectionLoss(error), isConflict(error), isDuplicate(error)]).toEqual([false, false, false]);
  }
});

test("several addresses that all refuse are named by their code", () => {
  const refused = Object.assign(new AggregateError([]), { code: "ECONNREFUSED" });
  expect(storeError(refused, "postgres://db/x")).toMatchObject({
    message: "The database postgres://db/x does not answer: ECONNREFUSED.",
  });
});
