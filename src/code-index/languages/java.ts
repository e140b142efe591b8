import type { DefinitionKind } from "../model/facts.ts";
import { type DefinitionSite, type Grammar, type Surroundings, ROLE } from "./grammar.ts";
import { isOnlyOfType, valueStart } from "./signature.ts";
import type { SyntaxTree } from "./syntax-tree.ts";

const HIDEABLE = ROLE.name | ROLE.leaf | ROLE.hideable;
const TYPE = ROLE.defines | ROLE.children | ROLE.scope;
const BINDS = ROLE.binds | ROLE.children;
const QUALIFIED = ROLE.qualified | ROLE.children;

export const JAVA: Grammar = {
  file: "tree-sitter-java.wasm",
  roles: {
    identifier: HIDEABLE,
    type_identifier: HIDEABLE,
    line_comment: ROLE.comment | ROLE.leaf,
    block_comment: ROLE.comment | ROLE.leaf,
    // The name of the package itself is not a use.
    package_declaration: ROLE.leaf,
    string_literal: ROLE.opaque,
    decimal_integer_literal: ROLE.opaque,
    integral_type: ROLE.opaque,
    void_type: ROLE.opaque,
    boolean_type: ROLE.opaque,
    this: ROLE.opaque,
    import_declaration: ROLE.imports,
    modifiers: ROLE.kept,
    class_declaration: TYPE,
    record_declaration: TYPE,
    interface_declaration: TYPE,
    annotation_type_declaration: TYPE,
    enum_declaration: TYPE,
    enum_constant: ROLE.defines | ROLE.children,
    method_declaration: TYPE | ROLE.runs,
    constructor_declaration: TYPE | ROLE.runs,
    compact_constructor_declaration: TYPE | ROLE.runs,
    annotation_type_element_declaration: ROLE.defines | ROLE.children,
    field_declaration: ROLE.kept,
    constant_declaration: ROLE.kept,
    variable_declarator: ROLE.defines | BINDS,
    formal_parameters: ROLE.kept,
    formal_parameter: ROLE.defines | BINDS,
    catch_formal_parameter: BINDS,
    enhanced_for_statement: BINDS,
    resource: BINDS,
    instanceof_expression: BINDS,
    lambda_expression: ROLE.scope | ROLE.runs | BINDS,
    inferred_parameters: ROLE.kept,
    static_initializer: ROLE.scope | ROLE.runs,
    type_parameter: ROLE.binds,
    field_access: QUALIFIED,
    method_invocation: QUALIFIED,
    scoped_identifier: QUALIFIED,
    element_value_pair: QUALIFIED,
  },
  memberFields: ["field", "name", "key"],
  define,
  bind,
  import: importsOf,
};

const KINDS: Readonly<Record<string, DefinitionKind>> = {
  class_declaration: "class",
  record_declaration: "class",
  interface_declaration: "interface",
  annotation_type_declaration: "interface",
  enum_declaration: "enum",
  enum_constant: "field",
};

function define(tree: SyntaxTree, node: number, place: Surroundings): DefinitionSite | undefined {
  const type = tree.type(node);
  const name = tree.child(node, "name");
  if (name < 0) return undefined;
  if (type === "variable_declarator") return field(tree, node, name, place);
  if (type === "formal_parameter" && !isComponent(tree, node)) return undefined;
  const body = tree.child(node, "body");
  return {
    name: tree.textOf(name),
    nameNode: name,
    kind: type === "formal_parameter" ? "field" : (KINDS[type] ?? "method"),
    exported: type === "formal_parameter" ? place.container?.exported === true : isVisible(tree, node, place),
    outer: node,
    bodyStart: body < 0 ? -1 : tree.start(body),
  };
}

function field(tree: SyntaxTree, node: number, name: number, place: Surroundings): DefinitionSite | undefined {
  const list = tree.parent(node);
  const type = list < 0 ? "" : tree.type(list);
  if (type !== "field_declaration" && type !== "constant_declaration") return undefined;
  const outer = isOnlyOfType(tree, list, node) ? list : node;
  return {
    name: tree.textOf(name),
    nameNode: name,
    kind: "field",
    exported: isVisible(tree, list, place),
    outer,
    from: tree.childOfType(list, "variable_declarator") === node ? list : node,
    bodyStart: valueStart(tree, outer, tree.child(node, "value")),
  };
}

/** The parameters of a record are its fields. */
function isComponent(tree: SyntaxTree, node: number): boolean {
  const list = tree.parent(node);
  return list >= 0 && tree.type(tree.parent(list)) === "record_declaration";
}

function isVisible(tree: SyntaxTree, node: number, place: Surroundings): boolean {
  const { container } = place;
  if (container !== undefined && !container.exported) return false;
  if (container?.kind === "interface" || tree.type(node) === "enum_constant") return true;
  const modifiers = tree.childOfType(node, "modifiers");
  return modifiers >= 0 && /\b(?:public|protected)\b/.test(tree.textOf(modifiers));
}

function bind(tree: SyntaxTree, node: number, bound: (nameNode: number) => void): void {
  switch (tree.type(node)) {
    case "variable_declarator": {
      const list = tree.parent(node);
      if (list >= 0 && /^(?:field|constant)_declaration$/.test(tree.type(list))) return;
      break;
    }
    case "formal_parameter":
      if (isComponent(tree, node)) return;
      break;
    case "type_parameter":
      // Its bounds follow its name.
      if (node + 1 < tree.after(node)) bound(node + 1);
      return;
    case "lambda_expression": {
      const parameters = tree.child(node, "parameters");
      if (parameters < 0) return;
      const names = tree.type(parameters) === "inferred_parameters" ? tree.children(parameters) : [parameters];
      for (const name of names) if (tree.type(name) === "identifier") bound(name);
      return;
    }
  }
  const name = tree.child(node, "name");
  if (name >= 0) bound(name);
}

function importsOf(tree: SyntaxTree, node: number, found: (specifier: string) => void): void {
  const [, path = ""] = /^import\s+(?:static\s+)?([^;]+)/.exec(tree.textOf(node)) ?? [];
  found(path.replaceAll(/\s+/g, ""));
}
