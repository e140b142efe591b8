/**
 * Collects what a program prints, as long as it may be: of more than the limit the beginning and the end are kept. The
 * memory it takes is bounded by the limit.
 */
const HEAD_SHARE = 0.4;

export class ProgramOutput {
  readonly #headLimit: number;
  readonly #tailLimit: number;
  #head = "";
  #tail: string[] = [];
  #tailLength = 0;
  #leftOut = 0;

  constructor(limit: number) {
    this.#headLimit = Math.floor(limit * HEAD_SHARE);
    this.#tailLimit = limit - this.#headLimit;
  }

  add(chunk: string): void {
    const room = this.#headLimit - this.#head.length;
    if (room > 0) this.#head += chunk.slice(0, room);
    if (chunk.length <= room) return;
    const rest = room > 0 ? chunk.slice(room) : chunk;
    this.#tail.push(rest);
    this.#tailLength += rest.length;
    // Joined rarely, so that a program that prints without end costs time in proportion to what it prints.
    if (this.#tailLength > 2 * this.#tailLimit) this.#shorten();
  }

  get isCut(): boolean {
    return this.#leftOut > 0 || this.#tailLength > this.#tailLimit;
  }

  text(): string {
    this.#shorten();
    const tail = this.#tail.join("");
    if (this.#leftOut === 0) return this.#head + tail;
    return `${this.#head}\n… ${this.#leftOut} characters left out …\n${tail}`.toWellFormed();
  }

  #shorten(): void {
    if (this.#tailLength <= this.#tailLimit) return;
    const tail = this.#tail.join("");
    this.#leftOut += tail.length - this.#tailLimit;
    this.#tail = [tail.slice(-this.#tailLimit)];
    this.#tailLength = this.#tailLimit;
  }
}
