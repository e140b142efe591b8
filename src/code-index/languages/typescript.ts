/** TypeScript, TSX and JavaScript. The grammars share their node types, except for those that only one of them has. */
import { type Grammar, ROLE } from "./grammar.ts";
import type { SyntaxTree } from "./syntax-tree.ts";
import { define, unquoted } from "./typescript-definitions.ts";

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
function exportedNames(tree: SyntaxTree, node: number): readonly string[] {
  if (tree.type(node) !== "export_statement" || tree.child(node, "source") >= 0) return [];
  const value = tree.child(node, "value");
  if (value >= 0) return tree.type(value) === "identifier" ? [tree.textOf(value)] : [];
  const clause = tree.childOfType(node, "export_clause");
  const specifiers = clause < 0 ? [] : tree.children(clause);
  const names = specifiers.map((specifier) => tree.child(specifier, "name")).filter((name) => name >= 0);
  return names.map((name) => tree.textOf(name));
}
