/** The handle that a unit of work gets on its connection, and one run of a unit with it. */
import type { ClientBase, QueryResult } from "pg";
import { UnitOfWorkError } from "../../domain/errors/errors.ts";
import type { Clock } from "../../domain/names/ids.ts";
import { requireStorable } from "../parameters.ts";
import type { Reader, SqlValue, Tx } from "../port.ts";
import { translate, type Statement } from "./dialect.ts";
import { storeError } from "./postgres-errors.ts";

export interface TxParts {
  readonly client: ClientBase;
  /** The statement that begins the transaction; sent along with the first statement of the unit. */
  readonly begin: string | undefined;
  readonly place: string;
  /** A clock that stands in for the database's. */
  readonly clock: Clock | undefined;
}

/** `error` is for the caller, `cause` is the database's own. */
export interface Failure {
  readonly error: unknown;
  readonly cause: unknown;
}

/** The result of a unit, or the error that it threw. */
export type UnitEnd<T> = { readonly value: T } | { readonly error: unknown };

/**
 * Sends statements without waiting for the answers of those before (they are answered in order), so that a unit of
 * three statements is four round trips and not seven. It dies with the unit, so that a forgotten promise cannot write
 * into another one.
 */
export class PostgresTx implements Reader, Tx {
  readonly unitsOverlap = true;
  readonly #parts: TxParts;
  #begun = false;
  #ended = false;
  #underWay = 0;
  #failure: Failure | undefined;
  #asksForNumber = false;
  #number: string | undefined;
  #answered = (): void => undefined;

  constructor(parts: TxParts) {
    this.#parts = parts;
  }

  get begun(): boolean {
    return this.#begun;
  }

  /** The first failure of a statement, which ends the unit, caught or not. */
  get failure(): Failure | undefined {
    return this.#failure;
  }

  /** By which the transaction can be asked for; undefined when it has written nothing. */
  get number(): string | undefined {
    return this.#number;
  }

  async get<Row>(sql: string, ...parameters: readonly SqlValue[]): Promise<Row | undefined> {
    return (await this.#do(sql, parameters)).rows[0] as Row | undefined;
  }

  async all<Row>(sql: string, ...parameters: readonly SqlValue[]): Promise<Row[]> {
    return (await this.#do(sql, parameters)).rows as Row[];
  }

  async run(sql: string, ...parameters: readonly SqlValue[]): Promise<number> {
    return (await this.#do(sql, parameters)).rowCount ?? 0;
  }

  /**
   * Runs the unit to its end. A unit that awaits only its statements goes on, or ends, before the event loop turns
   * after an answer; one that has no statement under way then is waiting for something else while it holds its locks.
   */
  async settle<T>(unit: (tx: Tx) => Promise<T>): Promise<UnitEnd<T>> {
    const outcome = await new Promise<UnitEnd<T>>((resolve) => {
      const foreign = "A unit of work awaited something other than its own statements.";
      let idle: NodeJS.Immediate | undefined;
      const finish = (settled: UnitEnd<T>): void => {
        clearImmediate(idle);
        this.#ended = true;
        this.#answered = () => undefined;
        resolve(settled);
      };
      const watch = (): void => {
        idle = setImmediate(() => {
          if (this.#underWay === 0 && !this.#ended) finish({ error: new UnitOfWorkError(foreign) });
        });
      };
      this.#answered = watch;
      unit(this).then(
        (value) => finish({ value }),
        (error: unknown) => finish({ error }),
      );
      watch();
    });
    await this.#drained();
    return outcome;
  }

  /** Statements that the unit did not await are still part of it. */
  #drained(): Promise<void> {
    if (this.#underWay === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#answered = () => {
        if (this.#underWay === 0) resolve();
      };
    });
  }

  async #do(sql: string, parameters: readonly SqlValue[]): Promise<QueryResult> {
    if (this.#ended) throw new UnitOfWorkError("A statement was issued after its unit of work had ended.");
    if (this.#failure !== undefined) throw this.#failure.error;
    const statement = this.#checked(sql, parameters);
    this.#beginOnce();
    if (statement.asksForTime) this.#setTime();
    const answer = this.#send(statement, parameters);
    if (statement.writes) this.#askForNumber();
    return answer;
  }

  #checked(sql: string, parameters: readonly SqlValue[]): Statement {
    try {
      requireStorable(parameters);
    } catch (error) {
      throw this.#fail(error);
    }
    return translate(sql);
  }

  async #send(
    { text, name }: Pick<Statement, "text" | "name">,
    values: readonly SqlValue[],
    take: (answer: QueryResult) => void = () => undefined,
  ): Promise<QueryResult> {
    this.#underWay += 1;
    try {
      const named = name === undefined ? {} : { name };
      const answer = await this.#parts.client.query({ text, values: [...values], ...named });
      take(answer);
      return answer;
    } catch (error) {
      throw this.#fail(error);
    } finally {
      this.#underWay -= 1;
      this.#answered();
    }
  }

  /** Of several statements that fail, the others fail because of the first. */
  #fail(cause: unknown): unknown {
    this.#failure ??= { cause, error: storeError(cause, this.#parts.place) };
    return this.#failure.error;
  }

  #beginOnce(): void {
    if (this.#begun || this.#parts.begin === undefined) return;
    this.#begun = true;
    // Its failure is that of the statement behind it.
    this.#send({ text: this.#parts.begin, name: undefined }, []).catch(() => undefined);
  }

  #setTime(): void {
    const { clock } = this.#parts;
    if (clock === undefined) return;
    const setting = { text: "SELECT set_config('cleveragents.now', $1, true)", name: "set_now" };
    this.#send(setting, [String(Math.trunc(clock()))]).catch(() => undefined);
  }

  /** Behind the first statement that may write, so that it is known before COMMIT is sent. */
  #askForNumber(): void {
    if (this.#asksForNumber) return;
    this.#asksForNumber = true;
    const take = ({ rows }: QueryResult): void => {
      this.#number = (rows as { number: string }[])[0]?.number;
    };
    const question = { text: "SELECT pg_current_xact_id()::TEXT AS number", name: "transaction_number" };
    this.#send(question, [], take).catch(() => undefined);
  }
}
