const ESCAPE = "\u001b";
const CODE = new RegExp(`^${ESCAPE}\\[(\\d*)([A-Z])$`);
const PARTS = new RegExp(`${ESCAPE}\\[\\d*[A-Z]|\\r|\\n|[^${ESCAPE}\\r\\n]+`, "g");

/** A terminal that understands what the live view writes, and fails at anything else. */
export class FakeTerminal {
  readonly lines: string[] = [""];
  columns: number;
  rows: number;
  #row = 0;

  constructor(columns = 60, rows = 10) {
    this.columns = columns;
    this.rows = rows;
  }

  write(text: string): void {
    for (const [part] of text.matchAll(PARTS)) {
      const [, amount = "", code = ""] = CODE.exec(part) ?? [];
      if (part === "\n") this.#row += 1;
      else if (code === "A") this.#row -= Number(amount);
      else if (code === "J") this.lines.splice(this.#row);
      else if (part !== "\r" && code === "") this.lines[this.#row] = part;
      else if (!["\r", "K"].includes(code || part)) throw new Error(`unknown code ${JSON.stringify(part)}`);
      while (this.lines.length <= this.#row) this.lines.push("");
    }
  }

  /** Becomes narrower, as most terminals do it: each line that is too long now takes several rows. */
  narrow(columns: number): void {
    const broken = this.lines.flatMap((line) => line.match(new RegExp(`.{1,${columns}}`, "gu")) ?? [""]);
    this.#row += broken.length - this.lines.length;
    this.lines.splice(0, Infinity, ...broken);
    this.columns = columns;
  }

  get shown(): string[] {
    return this.lines.slice(0, this.lines.at(-1) === "" ? -1 : undefined);
  }
}
