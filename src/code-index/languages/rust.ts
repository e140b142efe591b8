import type { DefinitionKind } from "../model/facts.ts";
import { type DefinitionSite, type Grammar, type Surroundings, ROLE } from "./grammar.ts";
import { valueStart } from "./signature.ts";
import type { SyntaxTree } from "./syntax-tree.ts";

const HIDEABLE = ROLE.name | ROLE.leaf | ROLE.hideable;
const DEFINES = ROLE.defines | ROLE.children;
/** Their type parameters are known inside only. */
const GENERIC = DEFINES | ROLE.scope;
const BINDS = ROLE.binds | ROLE.children;

/** Lists in lists of a `use` deeper than this are not taken apart. */
const DEEPEST_USE = 10;

export const RUST: Grammar = {
  file: "tree-sitter-rust.wasm",
  roles: {
    identifier: HIDEABLE,
    type_identifier: HIDEABLE,
    shorthand_field_identifier: HIDEABLE,
    field_identifier: ROLE.name | ROLE.leaf,
    // 'a is a name too, but not one to look for.
    lifetime: ROLE.leaf,
    line_comment: ROLE.comment | ROLE.leaf,
    block_comment: ROLE.comment | ROLE.leaf,
    attribute_item: ROLE.attribute,
    string_literal: ROLE.opaque,
    char_literal: ROLE.opaque,
    integer_literal: ROLE.opaque,
    primitive_type: ROLE.opaque,
    self: ROLE.opaque,
    visibility_modifier: ROLE.opaque,
    use_declaration: ROLE.imports | ROLE.children,
    extern_crate_declaration: ROLE.imports | ROLE.children,
    mod_item: DEFINES | ROLE.imports,
    function_item: GENERIC | ROLE.runs,
    function_signature_item: GENERIC,
    struct_item: GENERIC,
    union_item: GENERIC,
    enum_item: GENERIC,
    trait_item: GENERIC,
    impl_item: GENERIC,
    type_item: GENERIC,
    associated_type: GENERIC,
    const_item: DEFINES,
    static_item: DEFINES,
    macro_definition: DEFINES,
    enum_variant: DEFINES,
    field_declaration: DEFINES,
    closure_expression: ROLE.scope | ROLE.runs,
    closure_parameters: ROLE.binds,
    parameter: BINDS,
    let_declaration: BINDS,
    let_condition: BINDS,
    for_expression: BINDS,
    match_pattern: ROLE.binds,
    type_parameter: BINDS,
    scoped_identifier: ROLE.qualified | ROLE.children,
    tuple_struct_pattern: ROLE.children,
  },
  memberFields: ["name"],
  innerComment: /^\/[/*]!/,
  define,
  bind,
  import: importsOf,
};

const KINDS: Readonly<Record<string, DefinitionKind>> = {
  mod_item: "module",
  struct_item: "class",
  union_item: "class",
  enum_item: "enum",
  trait_item: "interface",
  type_item: "type",
  associated_type: "type",
  const_item: "variable",
  static_item: "variable",
  macro_definition: "macro",
  enum_variant: "field",
  field_declaration: "field",
};

function define(tree: SyntaxTree, node: number, place: Surroundings): DefinitionSite | undefined {
  const type = tree.type(node);
  if (type === "impl_item") return implementation(tree, node);
  const name = tree.child(node, "name");
  if (name < 0 || (place.local && (type === "const_item" || type === "static_item"))) return undefined;
  const isMember = place.container?.kind === "class" || place.container?.kind === "interface";
  return {
    name: tree.textOf(name),
    nameNode: name,
    kind: KINDS[type] ?? (isMember && !place.local ? "method" : "function"),
    exported: isVisible(tree, node, type, place),
    outer: node,
    bodyStart: bodyStart(tree, node, type, name),
  };
}

/**
 * An `impl` block holds methods of a type that is often defined elsewhere. Its name is the text of its header, so that
 * it can be found and shown with its methods in it, but is not mistaken for the definition of the type.
 */
function implementation(tree: SyntaxTree, node: number): DefinitionSite | undefined {
  const type = tree.child(node, "type");
  const trait = tree.child(node, "trait");
  const body = tree.child(node, "body");
  if (type < 0) return undefined;
  const plain = (part: number): string =>
    tree
      .textOf(part)
      .replace(/<[^]*$/, "")
      .replaceAll(/\s+/g, " ")
      .slice(0, 100)
      .trim();
  return {
    name: trait < 0 ? `impl ${plain(type)}` : `impl ${plain(trait)} for ${plain(type)}`,
    nameNode: -1,
    kind: "class",
    // Members that implement a trait are as visible as the trait.
    exported: trait >= 0,
    outer: node,
    bodyStart: body < 0 ? -1 : tree.start(body),
  };
}

function bodyStart(tree: SyntaxTree, node: number, type: string, name: number): number {
  if (type === "macro_definition") return tree.end(name);
  if (type === "const_item" || type === "static_item") return valueStart(tree, node, tree.child(node, "value"));
  if (type === "type_item") return valueStart(tree, node, tree.child(node, "type"));
  const body = tree.child(node, "body");
  // The unnamed fields of a tuple are its signature.
  if (body >= 0 && tree.type(body) === "ordered_field_declaration_list") return valueStart(tree, node, body);
  return body < 0 ? -1 : tree.start(body);
}

function isVisible(tree: SyntaxTree, node: number, type: string, place: Surroundings): boolean {
  if (tree.childOfType(node, "visibility_modifier") >= 0) return true;
  const isOfVariant = type === "field_declaration" && place.container?.kind === "field";
  if (type === "enum_variant" || isOfVariant || place.container?.kind === "interface")
    return place.container?.exported === true;
  // In an `impl` of a trait nothing says `pub`.
  return (
    place.container?.kind === "class" &&
    type !== "field_declaration" &&
    place.container.exported &&
    isInTraitImpl(tree, node)
  );
}

function isInTraitImpl(tree: SyntaxTree, node: number): boolean {
  const list = tree.parent(node);
  const block = list >= 0 && tree.type(list) === "declaration_list" ? tree.parent(list) : list;
  return block >= 0 && tree.type(block) === "impl_item" && tree.child(block, "trait") >= 0;
}

function bind(tree: SyntaxTree, node: number, bound: (nameNode: number) => void): void {
  const type = tree.type(node);
  if (type === "type_parameter") {
    const name = tree.child(node, "name");
    if (name >= 0) bound(name);
    return;
  }
  const pattern = type === "match_pattern" || type === "closure_parameters" ? node : tree.child(node, "pattern");
  if (pattern < 0) return;
  for (let part = pattern; part < tree.after(pattern); part++) {
    // Constants and variants in a pattern are used, not bound; they are written with a capital.
    const isName = (tree.role(part) & ROLE.hideable) !== 0 && tree.type(part) !== "type_identifier";
    if (isName && tree.field(part) !== "type" && /^[\p{Ll}_]/u.test(tree.textOf(part))) bound(part);
  }
}

function importsOf(tree: SyntaxTree, node: number, found: (specifier: string) => void): void {
  const type = tree.type(node);
  const name = tree.child(node, type === "use_declaration" ? "argument" : "name");
  if (name < 0) return;
  if (type === "use_declaration") {
    for (const path of new Set(pathsOf(tree.textOf(name).replaceAll(/\s+/g, " "), DEEPEST_USE))) found(path);
  } else if (type === "extern_crate_declaration") {
    found(tree.textOf(name));
  } else if (tree.child(node, "body") < 0) {
    // `mod store;` is the file beside it.
    found(`self::${tree.textOf(name)}`);
  }
}

/** `a::{b, c::{d, self}}` names a::b, a::c::d and a::c. */
function pathsOf(use: string, depth: number): string[] {
  const open = use.indexOf("{");
  if (open < 0 || depth === 0) return [use.replace(/ as .*$/, "").trim()];
  const prefix = use.slice(0, open).trim();
  const close = use.lastIndexOf("}");
  const parts = splitAtCommas(use.slice(open + 1, close < 0 ? use.length : close));
  return parts
    .flatMap((part) => pathsOf(part, depth - 1))
    .map((path) => {
      return path === "self" ? prefix.replace(/::$/, "") : prefix + path;
    });
}

function splitAtCommas(list: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let at = 0; at < list.length; at++) {
    if (list[at] === "{") depth++;
    if (list[at] === "}") depth--;
    if (list[at] !== "," || depth > 0) continue;
    parts.push(list.slice(start, at));
    start = at + 1;
  }
  parts.push(list.slice(start));
  return parts.map((part) => part.trim()).filter((part) => part !== "");
}
