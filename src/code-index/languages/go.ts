import type { DefinitionKind } from "../model/facts.ts";
import { type DefinitionSite, type Grammar, type Surroundings, ROLE } from "./grammar.ts";
import { isOnlyOfType, valueStart } from "./signature.ts";
import type { SyntaxTree } from "./syntax-tree.ts";

const HIDEABLE = ROLE.name | ROLE.leaf | ROLE.hideable;
const DEFINES = ROLE.defines | ROLE.children;

export const GO: Grammar = {
  file: "tree-sitter-go.wasm",
  roles: {
    identifier: HIDEABLE,
    type_identifier: HIDEABLE,
    field_identifier: ROLE.name | ROLE.leaf,
    comment: ROLE.comment | ROLE.leaf,
    interpreted_string_literal: ROLE.opaque,
    raw_string_literal: ROLE.opaque,
    int_literal: ROLE.opaque,
    nil: ROLE.opaque,
    import_spec: ROLE.imports | ROLE.children,
    const_declaration: ROLE.kept,
    var_declaration: ROLE.kept,
    type_declaration: ROLE.kept,
    const_spec: DEFINES | ROLE.binds,
    var_spec: DEFINES | ROLE.binds,
    type_spec: DEFINES | ROLE.scope,
    type_alias: DEFINES,
    struct_type: ROLE.kept,
    interface_type: ROLE.kept,
    field_declaration_list: ROLE.kept,
    field_declaration: DEFINES,
    method_elem: DEFINES | ROLE.scope,
    function_declaration: DEFINES | ROLE.scope | ROLE.runs,
    method_declaration: DEFINES | ROLE.scope | ROLE.runs,
    func_literal: ROLE.scope | ROLE.runs,
    parameter_declaration: ROLE.binds | ROLE.children,
    variadic_parameter_declaration: ROLE.binds | ROLE.children,
    type_parameter_declaration: ROLE.binds | ROLE.children,
    short_var_declaration: ROLE.binds | ROLE.children,
    range_clause: ROLE.binds | ROLE.children,
    expression_list: ROLE.kept,
  },
  define,
  bind,
  import: importsOf,
};

function define(tree: SyntaxTree, node: number, place: Surroundings): DefinitionSite | undefined {
  const type = tree.type(node);
  const name = tree.child(node, "name");
  // An embedded field has no name of its own.
  if (name < 0) return undefined;
  const site = { name: tree.textOf(name), nameNode: name, exported: /^\p{Lu}/u.test(tree.textOf(name)) };
  switch (type) {
    case "function_declaration":
    case "method_declaration": {
      const body = tree.child(node, "body");
      const kind = type === "function_declaration" ? "function" : "method";
      return { ...site, kind, outer: node, bodyStart: body < 0 ? -1 : tree.start(body), owner: receiverOf(tree, node) };
    }
    case "field_declaration":
    case "method_elem":
      return { ...site, kind: type === "method_elem" ? "method" : "field", outer: node, bodyStart: -1 };
    case "type_spec":
    case "type_alias":
      return place.local ? undefined : { ...site, ...typeOf(tree, node) };
    default: {
      if (place.local) return undefined;
      const outer = groupOf(tree, node);
      return { ...site, kind: "variable", outer, bodyStart: valueStart(tree, outer, tree.child(node, "value")) };
    }
  }
}

function receiverOf(tree: SyntaxTree, node: number): string | undefined {
  const receiver = tree.child(node, "receiver");
  return receiver < 0 ? undefined : /^\(\s*(?:\w+\s)?[\s*(]*(\w+)/.exec(tree.textOf(receiver))?.[1];
}

function typeOf(tree: SyntaxTree, node: number): { kind: DefinitionKind; outer: number; bodyStart: number } {
  const outer = groupOf(tree, node);
  const type = tree.child(node, "type");
  switch (type < 0 ? "" : tree.type(type)) {
    case "struct_type":
      return { kind: "class", outer, bodyStart: tree.start(type) + "struct".length };
    case "interface_type":
      return { kind: "interface", outer, bodyStart: tree.start(type) + "interface".length };
    default:
      return { kind: "type", outer, bodyStart: valueStart(tree, outer, type) };
  }
}

/** `const A = 1` with its keyword; in a group in parentheses each entry is for itself. */
function groupOf(tree: SyntaxTree, node: number): number {
  const group = tree.parent(node);
  const isDeclared = group >= 0 && /^(?:const|var|type)_declaration$/.test(tree.type(group));
  const isGroup = !isDeclared || /^\w+\s*\(/.test(tree.text.slice(tree.start(group), tree.start(group) + 100));
  return !isGroup && isOnlyOfType(tree, group, node) ? group : node;
}

function bind(tree: SyntaxTree, node: number, bound: (nameNode: number) => void): void {
  const type = tree.type(node);
  if (type !== "short_var_declaration" && type !== "range_clause") {
    for (const child of tree.children(node)) if (tree.field(child) === "name") bound(child);
    return;
  }
  const left = tree.child(node, "left");
  for (const child of left < 0 ? [] : tree.children(left)) if (tree.type(child) === "identifier") bound(child);
}

function importsOf(tree: SyntaxTree, node: number, found: (specifier: string) => void): void {
  const path = tree.child(node, "path");
  if (path >= 0) found(tree.textOf(path).replaceAll(/^["`]|["`]$/g, ""));
}
