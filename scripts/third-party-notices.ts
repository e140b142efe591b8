import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import type { Metafile } from "esbuild";

/** A third-party package whose code or data we publish. */
export interface BundledPackage {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  /** The texts that its license wants kept with every copy. */
  readonly texts: readonly string[];
}

/** Of the MIT License, without the line that names the holder. */
const MIT = `Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
documentation files (the "Software"), to deal in the Software without restriction, including without limitation the
rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit
persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`;

/** Packages that the MCP SDK carries within its own files, where no manifest tells of them. */
export const COPIED: readonly BundledPackage[] = [
  copied("@cfworker/json-schema", "MIT", `Copyright (c) 2020 Jeremy Danyow\n\n${MIT}`),
  copied(
    "@modelcontextprotocol/core-internal",
    "Apache-2.0",
    "Its text is that of @modelcontextprotocol/client: copyright of the MCP project.",
  ),
  copied("content-type", "MIT", `Copyright (c) 2015 Douglas Christopher Wilson\n\n${MIT}`),
];

/** Packages that have the text of their license in their README only, with the line that names the holder. */
const HOLDERS_IN_README: ReadonlyMap<string, string> = new Map([
  ["pg-types", "Copyright (c) 2014 Brian M. Carlson"],
  ["pgpass", "Copyright (c) 2013-2016 Hannes Hörl"],
]);

function copied(name: string, license: string, text: string): BundledPackage {
  return { name, version: "(within the MCP SDK)", license, texts: [text] };
}

const LEGAL = /^(licen[cs]e|copying|notice)/i;

/** The packages of which something is in the outputs: what was only looked at, or shaken off, is not. */
export function bundledPackages(metafiles: readonly Metafile[], others: readonly string[]): BundledPackage[] {
  const files = metafiles.flatMap(({ outputs }) =>
    Object.values(outputs).flatMap(({ inputs }) =>
      Object.entries(inputs).flatMap(([file, { bytesInOutput }]) => (bytesInOutput > 0 ? [file] : [])),
    ),
  );
  const directories = new Set([...files.filter((file) => file.includes("node_modules/")), ...others].map(packageOf));
  const packages = [...directories].map(readPackage);
  return packages.map((one) => withTexts(one, packages)).sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

export function noticesOf(packages: readonly BundledPackage[]): string {
  const sections = packages.map(
    ({ license, texts, ...one }) => `${"=".repeat(80)}\n${keyOf(one)}\nLicense: ${license}\n\n${texts.join("\n\n")}\n`,
  );
  const about =
    "This package holds code and data of the following packages, each under its own license.\n" +
    "The text of the Apache License, Version 2.0, is in the file LICENSE.\n";
  return `${about}\n${sections.join("\n")}`;
}

function keyOf({ name, version }: Pick<BundledPackage, "name" | "version">): string {
  return `${name} ${version}`;
}

/** Some packages have a package.json in a directory of theirs that says nothing but "module". */
function packageOf(file: string): string {
  for (let directory = file; directory !== "." && directory !== "/"; directory = dirname(directory)) {
    const manifest = join(directory, "package.json");
    if (existsSync(manifest) && typeof manifestOf(directory).name === "string") return relative(".", directory);
  }
  throw new Error(`${file} is of no package`);
}

interface FoundPackage extends BundledPackage {
  readonly repository: string | undefined;
}

function readPackage(directory: string): FoundPackage {
  const { name = "", version = "", license = "", repository } = manifestOf(directory);
  const holder = HOLDERS_IN_README.get(name);
  const inReadme = holder === undefined ? [] : [`${holder}\n\n${MIT}`];
  const names = readdirSync(directory).filter((file) => LEGAL.test(file));
  const texts = names.sort().map((file) => readFileSync(join(directory, file), "utf8").trim());
  return {
    name,
    version,
    license,
    texts: [...inReadme, ...texts],
    repository: typeof repository === "string" ? repository : repository?.url,
  };
}

/**
 * A package may leave its text to its siblings: then that of one from the same repository, under the same license, is
 * its own.
 */
function withTexts(one: FoundPackage, all: readonly FoundPackage[]): BundledPackage {
  const { name, version, license, repository } = one;
  const siblings = all.filter((other) => other.repository === repository && other.license === license);
  const texts = [one, ...siblings].find((other) => other.texts.length > 0)?.texts;
  // Such a package cannot be published as part of ours: the person who adds it must see that.
  if (license === "" || texts === undefined) throw new Error(`${name} does not say its license, or has no text of it`);
  return { name, version, license, texts };
}

interface Manifest {
  readonly name?: string;
  readonly version?: string;
  readonly license?: string;
  readonly repository?: string | { readonly url?: string };
}

function manifestOf(directory: string): Manifest {
  return JSON.parse(readFileSync(join(directory, "package.json"), "utf8")) as Manifest;
}
