/** Definitions of TypeScript, TSX and JavaScript. */
import type { DefinitionKind } from "../model/facts.ts";
import type { DefinitionSite, Surroundings } from "./grammar.ts";
import { isOnlyOfType, valueStart } from "./signature.ts";
import type { SyntaxTree } from "./syntax-tree.ts";

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

export function define(tree: SyntaxTree, node: number, place: Surroundings): DefinitionSite | undefined {
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
  // The names in a pattern have no signature of their own; they are found as text.
  if (name < 0 || tree.type(name) !== "identifier") return undefined;
  const list = tree.parent(node);
  // After a parse error a declarator may stand anywhere.
  const isDeclared = list >= 0 && /^(?:lexical|variable)_declaration$/.test(tree.type(list));
  const exported = isDeclared && isExported(tree, outerOf(tree, list));
  if (!exported && isImported(tree, tree.child(node, "value"))) return undefined;
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

/** `require("…")` and `await import("…")`, or a part of the module: the name is defined there, and used here. */
function isImported(tree: SyntaxTree, value: number): boolean {
  if (value < 0) return false;
  return /^(?:await\s+import|require)\s*\(\s*(["'`])[^"'`\n]+\1\s*\)(?:\.[\w$]+)*$/.test(tree.textOf(value));
}

/** The kind of the variable or member that holds a value, and where its body begins. */
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

function member(tree: SyntaxTree, node: number, type: string, place: Surroundings): DefinitionSite | undefined {
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

function field(tree: SyntaxTree, node: number, name: number, place: Surroundings): DefinitionSite | undefined {
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

function isVisible(tree: SyntaxTree, node: number, name: number, place: Surroundings): boolean {
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

/** The node wrapped around a declaration: `export`, `declare`, the statement of a namespace. */
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

export function unquoted(text: string): string {
  return /^(["'`])(.*)\1$/s.exec(text)?.[2] ?? text;
}
