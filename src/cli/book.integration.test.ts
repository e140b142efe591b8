/**
 * The book of the interface: one page in `src/cli/book` for each command, with everything that a user may see of it. A
 * change of wording is a change of the book, and is read there. `npm run book` writes the pages again.
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BookPlace } from "./testing/book-place.ts";
import { pageName, pageOf, PAGES } from "./testing/book-page.ts";
import { beginBook, crowdBook, fillBook } from "./testing/book-world.ts";

const BOOK = join(import.meta.dirname, "book");

test("each command has a page, and each page a command", () => {
  expect(readdirSync(BOOK).toSorted()).toEqual(PAGES.map(pageName).toSorted());
});

describe("a page is what the command prints", () => {
  let place: BookPlace;
  let attachment = "";
  beforeAll(async () => {
    place = new BookPlace();
    beginBook(place);
    place.save("nothing");
    attachment = await fillBook(place);
    place.save("one");
    await crowdBook(place);
    place.save("many");
  });
  afterAll(() => place[Symbol.dispose]());

  test.each(PAGES)("$path", async (command) => {
    const { page, wide } = await pageOf(command, { place, attachment });
    await expect(page).toMatchFileSnapshot(join(BOOK, pageName(command)));
    expect(wide).toEqual([]);
  });
});
