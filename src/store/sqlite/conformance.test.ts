import { describeStore } from "../testing/conformance.ts";
import { StoreFixture } from "../testing/fixtures.ts";

describeStore("in memory", () => StoreFixture.memory());
describeStore("in a file", () => StoreFixture.file());
