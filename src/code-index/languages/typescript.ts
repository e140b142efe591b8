/** TypeScript, TSX and JavaScript. The grammars share their node types, but for what only one of them has. */
import type { DefinitionKind } from "../facts.ts";
import { type DefinitionSite, type Grammar, type Place, ROLE } from "./grammar.ts";
import { isOnlyOfType, valueStart } from "./signature.ts";
import type { SyntaxTree } from "./syntax-tree.ts";

const NAME = ROLE.name | ROLE.leaf;
const HIDEABLE = NAME | ROLE.hideable;
const DEFINES = ROLE.defines | ROLE.children;
const FUNCTION = ROLE.scope | ROLE.runs | ROLE.binds | ROLE.children;

const SHARED_ROLES = {
  identifier: HIDEABLE,
  shorthand_property_identifier: HIDEABLE,
  shorthand_property_identifier_pattern: HIDEABLE,
  property_identifier: NAME,
  private_property_identifier: NAME,
  comment: ROLE.comment | ROLE.leaf,
  decorator: ROLE.attribute,
  string: ROLE.opaque,
  number: ROLE.opaque,
  regex: ROLE.opaque,
  this: ROLE.opaque,
  super: ROLE.opaque,
  true: ROLE.opaque,
  false: ROLE.opaque,
  null: ROLE.opaque,
  undefined: ROLE.opaque,
  export_statement: ROLE.imports | ROLE.children,
  import_statement: ROLE.imports | ROLE.children,
  import_specifier: ROLE.children,
  export_specifier: ROLE.children,
  call_expression: ROLE.imports,
  lexical_declaration: ROLE.kept,
  variable_declaration: ROLE.kept,
  variable_declarator: DEFINES | ROLE.binds,
  function_declaration: DEFINES | FUNCTION,
  generator_function_declaration: DEFINES | FUNCTION,
  function_expression: DEFINES | FUNCTION,
  generator_function: FUNCTION,
  arrow_function: FUNCTION,
  method_definition: DEFINES | FUNCTION,
  class_declaration: DEFINES | ROLE.scope,
  class: DEFINES | ROLE.scope,
  class_body: ROLE.kept,
  class_static_block: ROLE.scope | ROLE.runs,
  object: ROLE.kept,
  pair: DEFINES,
  assignment_expression: DEFINES,
  expression_statement: ROLE.kept,
  statement_block: ROLE.kept,
  program: ROLE.kept,
  formal_parameters: ROLE.binds | ROLE.children,
  catch_clause: ROLE.binds | ROLE.children,
  for_in_statement: ROLE.binds | ROLE.children,
  object_pattern: ROLE.kept,
  array_pattern: ROLE.kept,
  rest_pattern: ROLE.kept,
  pair_pattern: ROLE.children,
  assignment_pattern: ROLE.children,
  object_assignment_pattern: ROLE.children,
} as const;

const TYPED_ROLES = {
  ...SHARED_ROLES,
  type_identifier: HIDEABLE,
  ambient_declaration: ROLE.kept,
  predefined_type: ROLE.opaque,
  accessibility_modifier: ROLE.opaque,
  function_signature: DEFINES | ROLE.scope,
  method_signature: DEFINES | ROLE.scope,
  abstract_method_signature: DEFINES | ROLE.scope,
  abstract_class_declaration: DEFINES | ROLE.scope,
  public_field_definition: DEFINES,
  property_signature: DEFINES,
  interface_declaration: DEFINES | ROLE.scope,
  interface_body: ROLE.kept,
  object_type: ROLE.kept,
  type_alias_declaration: DEFINES | ROLE.scope,
  enum_declaration: DEFINES,
  enum_body: ROLE.members | ROLE.children,
  enum_assignment: DEFINES,
  internal_module: DEFINES,
  module: DEFINES,
  import_require_clause: ROLE.imports | ROLE.children,
  required_parameter: ROLE.binds | ROLE.children,
  optional_parameter: ROLE.binds | ROLE.children,
  type_parameter: ROLE.binds | ROLE.children,
} as const;

export const TYPESCRIPT: Grammar = {
  file: "tree-sitter-typescript.wasm",
  roles: TYPED_ROLES,
  define,
  bind,
  import: importsOf,
  exportedNames,
};

export const TSX: Grammar = { ...TYPESCRIPT, file: "tree-sitter-tsx.wasm" };

export const JAVASCRIPT: Grammar = {
  ...TYPESCRIPT,
  file: "tree-sitter-javascript.wasm",
  roles: { ...SHARED_ROLES, field_definition: DEFINES },
};

const KINDS: Readonly<Record<string, DefinitionKind>> = {
  function_declaration: "function",
  generator_function_declaration: "function",
  function_signature: "function",
  class_declaration: "class",
  abstract_class_declaration: "class",
  interface_declaration: "interface",
  type_alias_declaration: "type",
  enum_declaration: "enum",
  internal_module: "module",
  module: "module",
};

function define(tree: SyntaxTree, node: number, place: Place): DefinitionSite | undefined {
  const type = tree.type(node);
  switch (type) {
    case "variable_declarator":
      return place.local ? undefined : variable(tree, node);
    case "method_definition":
    case "method_signature":
    case "abstract_method_signature":
    case "public_field_definition":
    case "field_definition":
    case "property_signature":
    case "pair":
      return member(tree, node, type, place);
    case "enum_assignment":
      return field(tree, node, tree.child(node, "name"), place);
    case "property_identifier":
    case "private_property_identifier":
      return field(tree, node, node, place);
    case "assignment_expression":
      return place.local ? undefined : assignment(tree, node);
    case "class":
    case "function_expression":
      return defaultExport(tree, node, type);
    default:
      return declaration(tree, node, KINDS[type] ?? "function");
  }
}

function declaration(tree: SyntaxTree, node: number, kind: DefinitionKind): DefinitionSite | undefined {
  const name = tree.child(node, "name");
  const outer = outerOf(tree, node);
  const exported = isExported(tree, outer);
  if (name < 0) return undefined;
  const body = tree.child(node, kind === "type" ? "value" : "body");
  return {
    name: unquoted(tree.textOf(name)),
    nameNode: tree.type(name) === "nested_identifier" ? -1 : name,
    kind,
    exported,
    outer,
    bodyStart: kind === "type" ? valueStart(tree, outer, body) : body < 0 ? -1 : tree.start(body),
  };
}

/** `export default function () {}` and `export default class {}` have no name but the one they are imported by. */
function defaultExport(tree: SyntaxTree, node: number, type: string): DefinitionSite | undefined {
  const outer = tree.parent(node);
  if (outer < 0 || tree.type(outer) !== "export_statement" || tree.field(node) !== "value") return undefined;
  const name = tree.child(node, "name");
  const body = tree.child(node, "body");
  return {
    name: name < 0 ? "default" : tree.textOf(name),
    nameNode: name,
    kind: type === "class" ? "class" : "function",
    exported: true,
    outer,
    bodyStart: body < 0 ? -1 : tree.start(body),
  };
}

function variable(tree: SyntaxTree, node: number): DefinitionSite | undefined {
  const name = tree.child(node, "name");
  // What a pattern takes apart has no signature of its own; the names are found as text.
  if (name < 0 || tree.type(name) !== "identifier") return undefined;
  const list = tree.parent(node);
  // In what cannot be parsed a declarator may stand anywhere.
  const isDeclared = list >= 0 && /^(?:lexical|variable)_declaration$/.test(tree.type(list));
  const exported = isDeclared && isExported(tree, outerOf(tree, list));
  const outer = isDeclared && isOnlyOfType(tree, list, node) ? outerOf(tree, list) : node;
  const from = isDeclared && tree.childOfType(list, tree.type(node)) === node ? outerOf(tree, list) : node;
  return {
    name: tree.textOf(name),
    nameNode: name,
    exported,
    outer,
    from,
    ...valueOf(tree, outer, tree.child(node, "value")),
  };
}

/** What a value makes of the variable or member that holds it. */
function valueOf(tree: SyntaxTree, outer: number, value: number): { kind: DefinitionKind; bodyStart: number } {
  if (value < 0) return { kind: "variable", bodyStart: -1 };
  const kind = callableKind(tree.type(value));
  if (kind === undefined) return { kind: "variable", bodyStart: valueStart(tree, outer, value) };
  const body = tree.child(value, "body");
  return { kind, bodyStart: body < 0 ? -1 : tree.start(body) };
}

function callableKind(type: string): "function" | "class" | undefined {
  if (type === "class") return "class";
  return type === "arrow_function" || type === "function_expression" || type === "generator_function"
    ? "function"
    : undefined;
}

function member(tree: SyntaxTree, node: number, type: string, place: Place): DefinitionSite | undefined {
  const parent = tree.parent(node);
  const parentType = parent < 0 ? "" : tree.type(parent);
  if (parentType === "object" && place.local) return undefined;
  if (parentType === "object_type" && !isTypeAlias(tree, tree.parent(parent))) return undefined;
  const name = tree.child(node, type === "field_definition" ? "property" : type === "pair" ? "key" : "name");
  if (name < 0 || tree.type(name) === "computed_property_name") return undefined;
  const value = tree.child(node, "value");
  const isMethod = type.includes("method") || (value >= 0 && callableKind(tree.type(value)) === "function");
  // Plain properties of objects are data, not definitions.
  if (type === "pair" && !isMethod) return undefined;
  if (!isMethod) return field(tree, node, name, place);
  const body = tree.child(value < 0 ? node : value, "body");
  return {
    name: unquoted(tree.textOf(name)),
    nameNode: name,
    kind: "method",
    exported: isVisible(tree, node, name, place),
    outer: node,
    bodyStart: body < 0 ? -1 : tree.start(body),
  };
}

function field(tree: SyntaxTree, node: number, name: number, place: Place): DefinitionSite | undefined {
  if (name < 0) return undefined;
  return {
    name: unquoted(tree.textOf(name)),
    nameNode: name,
    kind: "field",
    exported: isVisible(tree, node, name, place),
    outer: node,
    bodyStart: valueStart(tree, node, tree.child(node, "value")),
  };
}

function isTypeAlias(tree: SyntaxTree, node: number): boolean {
  return node >= 0 && tree.type(node) === "type_alias_declaration";
}

function isVisible(tree: SyntaxTree, node: number, name: number, place: Place): boolean {
  if (place.container?.exported !== true || tree.textOf(name).startsWith("#")) return false;
  const modifier = tree.childOfType(node, "accessibility_modifier");
  return modifier < 0 || tree.textOf(modifier) !== "private";
}

/** `exports.name = function …`, `Type.prototype.name = …` at the top of a file. */
function assignment(tree: SyntaxTree, node: number): DefinitionSite | undefined {
  const outer = tree.parent(node);
  if (outer < 0 || tree.type(outer) !== "expression_statement" || tree.type(tree.parent(outer)) !== "program")
    return undefined;
  const left = tree.child(node, "left");
  const right = tree.child(node, "right");
  if (left < 0 || right < 0 || tree.type(left) !== "member_expression") return undefined;
  const path = tree.textOf(left);
  const [, owner = "", name = ""] = /^([\w$.]+)\.([\w$]+)$/.exec(path) ?? [];
  const kind = callableKind(tree.type(right));
  if (kind === undefined || name === "" || path === "module.exports") return undefined;
  const body = tree.child(right, "body");
  const onModule = owner === "exports" || owner === "module.exports";
  return {
    name,
    nameNode: lastInside(tree, left),
    kind: onModule || kind === "class" ? kind : "method",
    exported: onModule,
    outer,
    bodyStart: body < 0 ? -1 : tree.start(body),
    owner: onModule ? undefined : owner.replace(/\.prototype$/, ""),
  };
}

function lastInside(tree: SyntaxTree, node: number): number {
  return tree.after(node) - 1;
}

/** What is wrapped around a declaration: `export`, `declare`, the statement of a namespace. */
function outerOf(tree: SyntaxTree, node: number): number {
  let outer = node;
  for (let parent = tree.parent(outer); parent >= 0; parent = tree.parent(parent)) {
    const type = tree.type(parent);
    const isNamespace = type === "expression_statement" && tree.type(outer) === "internal_module";
    if (type !== "export_statement" && type !== "ambient_declaration" && !isNamespace) break;
    outer = parent;
  }
  return outer;
}

function isExported(tree: SyntaxTree, outer: number): boolean {
  if (outer >= 0 && tree.type(outer) === "export_statement") return true;
  // Inside `declare module "x" { … }` everything is.
  const block = tree.parent(outer);
  const module = block < 0 || tree.type(block) !== "statement_block" ? -1 : tree.parent(block);
  if (module < 0) return false;
  const ambient = tree.type(module) === "module" ? tree.parent(module) : module;
  return ambient >= 0 && tree.type(ambient) === "ambient_declaration";
}

function bind(tree: SyntaxTree, node: number, bound: (nameNode: number) => void): void {
  switch (tree.type(node)) {
    case "variable_declarator":
    case "type_parameter":
      bindPattern(tree, tree.child(node, "name"), bound);
      return;
    case "required_parameter":
    case "optional_parameter":
      bindPattern(tree, tree.child(node, "pattern"), bound);
      return;
    case "formal_parameters":
      // In JavaScript the patterns stand here themselves; in TypeScript each is in a node of its own.
      for (const child of tree.children(node)) bindPattern(tree, child, bound);
      return;
    case "for_in_statement":
      bindPattern(tree, tree.child(node, "left"), bound);
      return;
    default:
      bindPattern(tree, tree.child(node, "parameter"), bound);
  }
}

function bindPattern(tree: SyntaxTree, first: number, bound: (nameNode: number) => void): void {
  const pending = [first];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    switch (node < 0 ? "" : tree.type(node)) {
      case "identifier":
      case "type_identifier":
      case "shorthand_property_identifier_pattern":
        bound(node);
        break;
      case "object_pattern":
      case "array_pattern":
      case "rest_pattern":
        for (const child of tree.children(node)) pending.push(child);
        break;
      case "pair_pattern":
        pending.push(tree.child(node, "value"));
        break;
      case "assignment_pattern":
      case "object_assignment_pattern":
        pending.push(tree.child(node, "left"));
        break;
    }
  }
}

function importsOf(tree: SyntaxTree, node: number, found: (specifier: string) => void): void {
  if (tree.type(node) !== "call_expression") {
    const source = tree.child(node, "source");
    if (source >= 0) found(unquoted(tree.textOf(source)));
    return;
  }
  // Most calls are neither.
  const start = tree.start(node);
  if (!tree.text.startsWith("import", start) && !tree.text.startsWith("require", start)) return;
  const call = /(?:import|require)\s*\(\s*(["'`])([^"'`\n]+)\1/y;
  call.lastIndex = start;
  found(call.exec(tree.text)?.[2] ?? "");
}

/** `export { a, b as c };` and `export default a;` without a source export what is defined elsewhere in the file. */
function exportedNames(tree: SyntaxTree): readonly string[] {
  const names: string[] = [];
  for (let node = 0; node < tree.count; node++) {
    if (tree.type(node) !== "export_statement" || tree.child(node, "source") >= 0) continue;
    const value = tree.child(node, "value");
    if (value >= 0 && tree.type(value) === "identifier") names.push(tree.textOf(value));
    const clause = tree.childOfType(node, "export_clause");
    for (const specifier of clause < 0 ? [] : tree.children(clause)) {
      const name = tree.child(specifier, "name");
      if (name >= 0) names.push(tree.textOf(name));
    }
  }
  return names;
}

function unquoted(text: string): string {
  return /^(["'`])(.*)\1$/s.exec(text)?.[2] ?? text;
}
