/** An error of one listener stops neither the other listeners nor the store. */
export function tell(listener: () => void): void {
  try {
    listener();
  } catch (error) {
    process.emitWarning(error instanceof Error ? error : String(error));
  }
}
