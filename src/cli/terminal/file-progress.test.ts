import { expect, test } from "vitest";
import { progressOf } from "./file-progress.ts";

function watched(terminal: boolean): {
  text: () => string;
  at: (ms: number) => void;
  progress: ReturnType<typeof progressOf>;
} {
  let written = "";
  let clock = 0;
  const stream = { write: (text: string) => (written += text) };
  return {
    text: () => written,
    at: (ms) => (clock = ms),
    progress: progressOf("indexing", { stream, now: () => clock, terminal }),
  };
}

test("what is done within a second is not spoken of", () => {
  const { text, at, progress } = watched(true);
  at(900);
  progress.update(5, 10);
  progress.end();
  expect(text()).toBe("");
});

test("without a terminal a plain line every two seconds", () => {
  const { text, at, progress } = watched(false);
  for (let ms = 0; ms <= 5_500; ms += 100) {
    at(ms);
    progress.update(ms / 100, 100);
  }
  progress.end();
  expect(text()).toBe(
    "indexing: 10 of 100 files (10 a second)\nindexing: 30 of 100 files (10 a second)\nindexing: 50 of 100 files (10 a second)\n",
  );
});

test("on a terminal one line, which is gone at the end", () => {
  const { text, at, progress } = watched(true);
  at(1_500);
  progress.update(3, 4);
  progress.end();
  expect(text()).toBe("\r\u001b[Kindexing: 3 of 4 files (2 a second)\r\u001b[K");
});
