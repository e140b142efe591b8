/** Lines of a stream, without those that are too long: one costs itself, and not the connection. */
import { Transform } from "node:stream";

const LINE_END = 10;

/** `onTooLong` is told of each line that was left out, when it ends. */
export function boundedLines(most: number, onTooLong: () => void): Transform {
  let held: Buffer[] = [];
  let length = 0;
  const take = (piece: Buffer): void => {
    length += piece.length;
    if (length > most) held = [];
    else held.push(piece);
  };
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      let start = 0;
      for (let end = chunk.indexOf(LINE_END); end !== -1; end = chunk.indexOf(LINE_END, start)) {
        take(chunk.subarray(start, end + 1));
        if (length > most) onTooLong();
        else this.push(Buffer.concat(held));
        held = [];
        length = 0;
        start = end + 1;
      }
      if (start < chunk.length) take(chunk.subarray(start));
      done();
    },
  });
}
