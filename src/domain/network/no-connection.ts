/**
 * Errors of the network that say that nothing was sent: there never was a connection. Anything else may have been read
 * at the other end.
 */
const NO_CONNECTION: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
]);

/** Of the error itself; a library's own error has it as its cause. */
export function isNoConnection(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  // Several addresses were tried, each in vain.
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.every(isNoConnection);
  return "code" in error && NO_CONNECTION.has(String(error.code));
}
