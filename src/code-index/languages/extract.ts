/**
 * Turns a syntax tree into facts by a grammar's rules: one pass in the order of the text that finds definitions,
 * imports and bindings; then the names, without those that a parameter or local hides.
 */
import type { Definition, DefinitionKind, FileFacts, Import, Language, Reference, Span } from "../model/facts.ts";
import { type DefinitionSite, type Grammar, type Surroundings, ROLE } from "./grammar.ts";
import { lineAt, lineStartsOf } from "./lines.ts";
import { isShort } from "./signature.ts";
import type { SyntaxTree } from "./syntax-tree.ts";

/**
 * Definitions nested deeper are left out: people do not write them, and showing them would take more space than the
 * file.
 */
const DEEPEST_DEFINITION = 50;

/** How far outwards a name is looked for: people do not write functions nested deeper than this. */
const DEEPEST_SCOPE = 100;

interface NameScope {
  readonly outer: NameScope | undefined;
  readonly runs: boolean;
  names: Set<string> | undefined;
}

export function extractFacts(language: Language, grammar: Grammar, tree: SyntaxTree): FileFacts {
  const lines = lineStartsOf(tree.text);
  const found = new Extraction(grammar, tree, lines);
  found.run();
  return {
    language,
    definitions: found.definitions,
    references: found.references(),
    imports: found.imports,
    incomplete: gapOf(found, tree, lines),
  };
}

function gapOf(found: Extraction, tree: SyntaxTree, lines: readonly number[]): string | undefined {
  if (found.tooDeep) return `definitions nested deeper than ${DEEPEST_DEFINITION} levels are left out`;
  if (!tree.hasErrors) return undefined;
  if (tree.firstError < 0) return "something is missing in it, so it may have been parsed wrongly";
  return `line ${lineAt(lines, tree.firstError)} and perhaps others could not be parsed`;
}

class Extraction {
  readonly definitions: (Definition & { exported: boolean })[] = [];
  readonly imports: Import[] = [];
  tooDeep = false;
  readonly #grammar: Grammar;
  readonly #tree: SyntaxTree;
  readonly #lines: readonly number[];
  /** Names that are used: where, in which scope, within which definition (or -1). */
  readonly #useNodes: number[] = [];
  readonly #useScopes: (NameScope | undefined)[] = [];
  readonly #useWithin: number[] = [];
  readonly #exported = new Set<string>();
  /** Nodes that are a defining occurrence. */
  readonly #defining = new Set<number>();
  /** Comments and attributes so far, which may belong to the next definition. */
  readonly #leading: number[] = [];
  readonly #notes = new Map<number, string>();
  /** Names that are defined once, by where. */
  readonly #once = new Set<string>();
  /**
   * Definitions that may have members elsewhere: types, and definitions at the top of the file; the first of each name.
   */
  readonly #owners = new Map<string, number>();
  readonly #openDefinitions: { ordinal: number; after: number }[] = [];
  readonly #openScopes: { scope: NameScope; after: number }[] = [];

  constructor(grammar: Grammar, tree: SyntaxTree, lines: readonly number[]) {
    this.#grammar = grammar;
    this.#tree = tree;
    this.#lines = lines;
  }

  run(): void {
    const tree = this.#tree;
    for (let node = 0; node < tree.count; node++) {
      this.#leave(node);
      const role = tree.role(node);
      if (role === 0) continue;
      if ((role & ROLE.name) !== 0) this.#use(node);
      if ((role & (ROLE.comment | ROLE.attribute)) !== 0) this.#leading.push(node);
      if ((role & ROLE.imports) !== 0) this.#import(node);
      if ((role & ROLE.defines) !== 0 || this.#isMember(node, role)) this.#define(node);
      if ((role & ROLE.declares) !== 0) this.#bind(node);
      if ((role & ROLE.scope) !== 0) this.#enter(node, (role & ROLE.runs) !== 0);
      if ((role & ROLE.binds) !== 0) this.#bind(node);
    }
    if (this.#exported.size === 0) return;
    for (const definition of this.definitions) {
      if (definition.container === undefined && this.#exported.has(definition.name)) definition.exported = true;
    }
  }

  /** Names that are used: in the order of their first use in each definition. */
  references(): Reference[] {
    const references: (Reference & { count: number })[] = [];
    const places = new Map<string, Map<number, number>>();
    for (let use = 0; use < this.#useNodes.length; use++) {
      const [node = -1, scope, within = -1] = [this.#useNodes[use], this.#useScopes[use], this.#useWithin[use]];
      if (this.#defining.has(node)) continue;
      const name = this.#tree.textOf(node);
      if (name === "" || (scope !== undefined && this.#isHideable(node) && isHidden(name, scope))) continue;
      let byDefinition = places.get(name);
      if (byDefinition === undefined) places.set(name, (byDefinition = new Map()));
      const place = byDefinition.get(within);
      const known = place === undefined ? undefined : references[place];
      if (known !== undefined) {
        known.count++;
        continue;
      }
      byDefinition.set(within, references.length);
      const line = lineAt(this.#lines, this.#tree.start(node));
      references.push({ name, within: within < 0 ? undefined : within, count: 1, line });
    }
    return references;
  }

  #isHideable(node: number): boolean {
    if ((this.#tree.role(node) & ROLE.hideable) === 0) return false;
    const isQualified = (this.#tree.role(this.#tree.parent(node)) & ROLE.qualified) !== 0;
    return !isQualified || this.#grammar.memberFields?.includes(this.#tree.field(node)) !== true;
  }

  #isMember(node: number, role: number): boolean {
    return (role & ROLE.name) !== 0 && (this.#tree.role(this.#tree.parent(node)) & ROLE.members) !== 0;
  }

  #leave(node: number): void {
    while ((this.#openDefinitions.at(-1)?.after ?? Infinity) <= node) this.#openDefinitions.pop();
    while ((this.#openScopes.at(-1)?.after ?? Infinity) <= node) this.#openScopes.pop();
  }

  #enter(node: number, runs: boolean): void {
    const outer = this.#openScopes.at(-1)?.scope;
    const scope: NameScope = { outer, runs: runs || (outer?.runs ?? false), names: undefined };
    this.#openScopes.push({ scope, after: this.#tree.after(node) });
  }

  #use(node: number): void {
    this.#useNodes.push(node);
    this.#useScopes.push(this.#openScopes.at(-1)?.scope);
    this.#useWithin.push(this.#openDefinitions.at(-1)?.ordinal ?? -1);
  }

  #bind(node: number): void {
    const scope = this.#openScopes.at(-1)?.scope;
    if (scope === undefined) return;
    this.#grammar.bind(this.#tree, node, (nameNode) => {
      (scope.names ??= new Set()).add(this.#tree.textOf(nameNode));
    });
  }

  #import(node: number): void {
    this.#grammar.import(this.#tree, node, (specifier) => {
      if (specifier !== "") this.imports.push({ specifier, line: lineAt(this.#lines, this.#tree.start(node)) });
    });
    for (const name of this.#grammar.exportedNames?.(this.#tree, node) ?? []) this.#exported.add(name);
  }

  #define(node: number): void {
    const inside = this.#openDefinitions.at(-1)?.ordinal;
    const place: Surroundings = {
      local: this.#openScopes.at(-1)?.scope.runs ?? false,
      container: inside === undefined ? undefined : this.definitions[inside],
      notes: this.#notes,
    };
    const site = this.#grammar.define(this.#tree, node, place);
    if (site === undefined || site.name === "") return;
    if (this.#openDefinitions.length >= DEEPEST_DEFINITION) {
      this.tooDeep = true;
      return;
    }
    if (site.once === true) {
      const key = `${inside ?? ""} ${site.name}`;
      if (this.#once.has(key)) return;
      this.#once.add(key);
    }
    if (site.nameNode >= 0) this.#defining.add(site.nameNode);
    const owner = site.owner === undefined ? undefined : this.#owners.get(site.owner);
    this.#openDefinitions.push({ ordinal: this.definitions.length, after: this.#tree.after(node) });
    if ((inside === undefined || isType(site.kind)) && !this.#owners.has(site.name))
      this.#owners.set(site.name, this.definitions.length);
    this.definitions.push(this.#definitionOf(node, site, inside, owner));
  }

  #definitionOf(node: number, site: DefinitionSite, inside: number | undefined, owner: number | undefined): Definition {
    const { text } = this.#tree;
    // After a parse error, nodes may be wrapped around that do not belong here. They would begin before the definitions
    // found already.
    const earliest = this.definitions.at(-1)?.signature.start ?? 0;
    const outer = this.#tree.start(site.outer) < earliest ? node : site.outer;
    const end = this.#tree.end(outer);
    const from = this.#tree.start(site.from ?? outer);
    const lead = this.#leadOf(from < earliest ? this.#tree.start(outer) : from, earliest);
    // A type on one line, `enum Color { RED, GREEN }`, is its own signature.
    const isWhole = site.bodyStart < 0 || ((isType(site.kind) || site.kind === "field") && isShort(this.#tree, outer));
    const doc = site.doc ?? lead.doc;
    const startLine = lineAt(this.#lines, Math.min(lead.start, doc?.start ?? lead.start));
    const definition: Definition = {
      name: site.name,
      kind: site.kind,
      container: inside,
      exported: site.exported,
      startLine,
      endLine: lineAt(this.#lines, Math.max(trimmedEnd(text, lead.start, end) - 1, lead.start)),
      signature: { start: lead.start, end: trimmedEnd(text, lead.start, isWhole ? end : site.bodyStart) },
      doc,
    };
    const owning = owner === undefined ? undefined : this.definitions[owner];
    return owning !== undefined && owning.endLine <= startLine ? { ...definition, container: owner } : definition;
  }

  /**
   * The attributes and the comment directly before a position. A blank line, or code on the comment's line, keeps them
   * apart.
   */
  #leadOf(position: number, earliest: number): { start: number; doc: Span | undefined } {
    const { text } = this.#tree;
    let start = position;
    let doc: { start: number; end: number } | undefined;
    let next = position;
    for (let i = this.#leading.length - 1; i >= 0; i--) {
      const node = this.#leading[i] ?? -1;
      if (this.#tree.start(node) >= position) continue;
      const end = trimmedEnd(text, this.#tree.start(node), this.#tree.end(node));
      const begin = this.#tree.start(node);
      if (begin < earliest || !isAdjacent(text, end, next)) break;
      if ((this.#tree.role(node) & ROLE.attribute) !== 0) {
        if (doc !== undefined) break;
        start = next = begin;
        continue;
      }
      if (!beginsItsLine(text, begin) || this.#grammar.innerComment?.test(text.slice(begin, begin + 4)) === true) break;
      const isLine = !text.startsWith("/*", begin);
      // Line comments one below the other are one; a block comment stands for itself.
      if (doc !== undefined && !(isLine && !text.startsWith("/*", doc.start))) break;
      doc = { start: begin, end: doc?.end ?? end };
      next = begin;
      if (!isLine) break;
    }
    return { start, doc };
  }
}

function isType(kind: DefinitionKind): boolean {
  return kind === "class" || kind === "interface" || kind === "enum" || kind === "type";
}

function isHidden(name: string, scope: NameScope | undefined): boolean {
  let at = scope;
  for (let hops = 0; at !== undefined && hops < DEEPEST_SCOPE; hops++, at = at.outer) {
    if (at.names?.has(name) === true) return true;
  }
  return false;
}

/** Whether only white space with at most one line break lies between. */
function isAdjacent(text: string, from: number, to: number): boolean {
  let breaks = 0;
  for (let at = from; at < to; at++) {
    const code = text.charCodeAt(at);
    if (code === 10 && ++breaks > 1) return false;
    if (code !== 10 && code !== 13 && code !== 32 && code !== 9) return false;
  }
  return true;
}

function beginsItsLine(text: string, position: number): boolean {
  for (let at = position - 1; at >= 0; at--) {
    const code = text.charCodeAt(at);
    if (code === 10) return true;
    if (code !== 32 && code !== 9 && code !== 0xfeff) return false;
  }
  return true;
}

function trimmedEnd(text: string, start: number, end: number): number {
  let at = end;
  while (at > start && isSpace(text.charCodeAt(at - 1))) at--;
  return at;
}

function isSpace(code: number): boolean {
  return code < 128 ? code === 32 || (code >= 9 && code <= 13) : /\s/.test(String.fromCharCode(code));
}
