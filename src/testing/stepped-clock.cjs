"use strict";
/**
 * Loaded before a program (`node --require`) to show it another time: every `Date` is off by TEST_CLOCK_STEP_MS. The clock of SQLite's
 * `now_ms()` is made of it; monotonic clocks stay as they are, as they do when somebody sets a machine's clock.
 */
const step = Number(process.env["TEST_CLOCK_STEP_MS"] ?? 0);
const Real = Date;

globalThis.Date = class Date extends Real {
  constructor(...given) {
    if (given.length === 0) super(Real.now() + step);
    else super(...given);
  }

  static now() {
    return Real.now() + step;
  }
};
