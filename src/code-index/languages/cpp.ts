/** C and C++, by the grammar of C++. */
import type { DefinitionKind } from "../model/facts.ts";
import { type DefinitionSite, type Grammar, type Surroundings, ROLE } from "./grammar.ts";
import { valueStart } from "./signature.ts";
import type { SyntaxTree } from "./syntax-tree.ts";

const NAME = ROLE.name | ROLE.leaf;
const HIDEABLE = NAME | ROLE.hideable;
const DEFINES = ROLE.defines | ROLE.children;
const BINDS = ROLE.binds | ROLE.children;
const DECLARATOR = ROLE.children;

export const CPP: Grammar = {
  file: "tree-sitter-cpp.wasm",
  roles: {
    identifier: HIDEABLE,
    type_identifier: HIDEABLE,
    field_identifier: NAME,
    namespace_identifier: NAME,
    comment: ROLE.comment | ROLE.leaf,
    string_literal: ROLE.opaque,
    number_literal: ROLE.opaque,
    primitive_type: ROLE.opaque,
    preproc_arg: ROLE.opaque,
    preproc_include: ROLE.imports | ROLE.children,
    preproc_def: DEFINES,
    preproc_function_def: DEFINES | ROLE.scope,
    preproc_params: ROLE.binds,
    class_specifier: DEFINES,
    struct_specifier: DEFINES,
    union_specifier: DEFINES,
    enum_specifier: DEFINES,
    enumerator: DEFINES,
    field_declaration_list: ROLE.children,
    access_specifier: ROLE.defines,
    namespace_definition: DEFINES,
    declaration_list: ROLE.kept,
    template_declaration: ROLE.scope,
    type_parameter_declaration: BINDS,
    optional_type_parameter_declaration: BINDS,
    function_definition: DEFINES | ROLE.scope | ROLE.runs,
    // A scope for the names of a prototype's parameters.
    declaration: DEFINES | ROLE.declares | ROLE.scope,
    field_declaration: DEFINES | ROLE.scope,
    type_definition: DEFINES | ROLE.scope,
    alias_declaration: DEFINES,
    concept_definition: DEFINES,
    lambda_expression: ROLE.scope | ROLE.runs,
    parameter_declaration: BINDS,
    optional_parameter_declaration: BINDS,
    variadic_parameter_declaration: BINDS,
    for_range_loop: BINDS,
    init_declarator: DECLARATOR,
    function_declarator: DECLARATOR,
    pointer_declarator: DECLARATOR,
    reference_declarator: DECLARATOR,
    array_declarator: DECLARATOR,
    parenthesized_declarator: DECLARATOR,
    attributed_declarator: DECLARATOR,
    structured_binding_declarator: ROLE.kept,
    qualified_identifier: ROLE.qualified | ROLE.children,
    field_expression: ROLE.qualified | ROLE.children,
  },
  memberFields: ["name", "field"],
  define,
  bind,
  import: importsOf,
};

const KINDS: Readonly<Record<string, DefinitionKind>> = {
  class_specifier: "class",
  struct_specifier: "class",
  union_specifier: "class",
  enum_specifier: "enum",
  namespace_definition: "module",
  alias_declaration: "type",
  concept_definition: "type",
  enumerator: "field",
  preproc_def: "macro",
  preproc_function_def: "macro",
};

function define(tree: SyntaxTree, node: number, place: Surroundings): DefinitionSite | undefined {
  const type = tree.type(node);
  switch (type) {
    case "access_specifier":
      place.notes.set(tree.parent(node), tree.textOf(node));
      return undefined;
    case "function_definition":
    case "declaration":
    case "field_declaration":
      return place.local && type === "declaration" ? undefined : declared(tree, node, type, place);
    case "type_definition":
      return typedef(tree, node);
    default:
      return named(tree, node, KINDS[type] ?? "type", place);
  }
}

/** A definition with its name in a field of its own. */
function named(tree: SyntaxTree, node: number, kind: DefinitionKind, place: Surroundings): DefinitionSite | undefined {
  const name = tree.child(node, "name");
  const body = tree.child(node, "body");
  // Without a body it is only mentioned: `struct store *store`.
  if (name < 0 || (body < 0 && (kind === "class" || kind === "enum" || kind === "module"))) return undefined;
  const value = kind === "macro" ? tree.child(node, "value") : kind === "type" ? tree.child(node, "type") : -1;
  const outer = templateOf(tree, node);
  return {
    name: tree
      .textOf(name)
      .replace(/<[^]*$/, "")
      .replaceAll(/\s+/g, ""),
    nameNode: (tree.role(name) & ROLE.name) === 0 ? -1 : name,
    kind,
    exported: isVisible(tree, node, place),
    outer,
    bodyStart: body >= 0 ? tree.start(body) : macroEnd(tree, node, valueStart(tree, outer, value)),
  };
}

/** A long macro ends with its parameters, before the backslash. */
function macroEnd(tree: SyntaxTree, node: number, bodyStart: number): number {
  const parameters = bodyStart < 0 ? -1 : tree.child(node, "parameters");
  return parameters < 0 ? bodyStart : tree.end(parameters);
}

interface Declarator {
  /** The node of the name: an identifier, a qualified one, an operator or a destructor. */
  readonly name: number;
  readonly isFunction: boolean;
}

/** Functions, methods and variables have their name inside pointers, references, arrays and parameter lists. */
function declaratorOf(tree: SyntaxTree, node: number): Declarator | undefined {
  let isFunction = false;
  let at = tree.child(node, "declarator");
  while (at >= 0) {
    const type = tree.type(at);
    if (!type.endsWith("_declarator")) return { name: at, isFunction };
    if (type === "function_declarator") isFunction = true;
    // A pointer to a function is a variable.
    if (type === "parenthesized_declarator") isFunction = false;
    const inner = tree.child(at, "declarator");
    at = inner >= 0 ? inner : at + 1 < tree.after(at) ? at + 1 : -1;
  }
  return undefined;
}

function declared(tree: SyntaxTree, node: number, type: string, place: Surroundings): DefinitionSite | undefined {
  const declarator = declaratorOf(tree, node);
  if (declarator === undefined) return undefined;
  const name = lastName(tree, declarator.name);
  const isInType = type === "field_declaration" || tree.type(tree.parent(node)) === "field_declaration_list";
  const kind = kindOf(declarator.isFunction || type === "function_definition", isInType || name.owner !== undefined);
  const outer = templateOf(tree, node);
  return {
    name: name.text,
    nameNode: name.node,
    kind,
    exported: isVisible(tree, node, place) && !(isStatic(tree, node) && !isInType),
    outer,
    bodyStart: bodyStart(tree, node, outer),
    owner: name.owner,
  };
}

function kindOf(isFunction: boolean, isMember: boolean): DefinitionKind {
  if (isFunction) return isMember ? "method" : "function";
  return isMember ? "field" : "variable";
}

function bodyStart(tree: SyntaxTree, node: number, outer: number): number {
  const initializers = tree.childOfType(node, "field_initializer_list");
  if (initializers >= 0) return tree.start(initializers);
  const body = tree.child(node, "body");
  if (body >= 0) return tree.start(body);
  const declarator = tree.child(node, "declarator");
  const holder = declarator >= 0 && tree.type(declarator) === "init_declarator" ? declarator : node;
  const value = tree.child(holder, holder === node ? "default_value" : "value");
  return valueStart(tree, outer, value);
}

/** Of `Lease<T>::renew` it is `renew`, owned by `Lease`; of `~Lease` and `operator==` all of it. */
function lastName(tree: SyntaxTree, node: number): { text: string; node: number; owner: string | undefined } {
  let at = node;
  let scope = -1;
  while (tree.type(at) === "qualified_identifier") {
    const name = tree.child(at, "name");
    if (name < 0) break;
    scope = tree.child(at, "scope");
    at = name;
  }
  const isName = (tree.role(at) & ROLE.name) !== 0;
  const text = isName
    ? tree.textOf(at)
    : tree
        .textOf(at)
        .slice(0, 100)
        .replace(/^(?!operator)([^<]*)<[^]*$/, "$1");
  return {
    text: text.replaceAll(/\s+/g, " ").trim(),
    node: isName ? at : tree.type(at) === "destructor_name" ? at + 1 : -1,
    owner: scope < 0 ? undefined : /^\w+/.exec(tree.textOf(scope))?.[0],
  };
}

function typedef(tree: SyntaxTree, node: number): DefinitionSite | undefined {
  const declarator = declaratorOf(tree, node);
  if (declarator === undefined) return undefined;
  const type = tree.child(node, "type");
  const body = type < 0 ? -1 : tree.child(type, "body");
  return {
    name: tree.textOf(declarator.name),
    nameNode: declarator.name,
    kind: "type",
    exported: true,
    outer: node,
    bodyStart: valueStart(tree, node, body),
  };
}

function templateOf(tree: SyntaxTree, node: number): number {
  let outer = node;
  for (let parent = tree.parent(outer); parent >= 0 && tree.type(parent) === "template_declaration";) {
    outer = parent;
    parent = tree.parent(outer);
  }
  return outer;
}

function isStatic(tree: SyntaxTree, node: number): boolean {
  const storage = tree.childOfType(node, "storage_class_specifier");
  return storage >= 0 && tree.textOf(storage) === "static";
}

function isVisible(tree: SyntaxTree, node: number, place: Surroundings): boolean {
  if (place.container !== undefined && !place.container.exported && place.container.kind !== "module") return false;
  let list = tree.parent(node);
  // A type may be defined within a declaration.
  while (list >= 0 && /^(?:template_|field_|type_)?(?:declaration|definition)$/.test(tree.type(list)))
    list = tree.parent(list);
  if (list < 0) return true;
  if (tree.type(list) === "field_declaration_list") {
    const usual = tree.type(tree.parent(list)) === "class_specifier" ? "private" : "public";
    return (place.notes.get(list) ?? usual) !== "private";
  }
  const space = tree.type(list) === "declaration_list" ? tree.parent(list) : -1;
  // Nothing leaves a namespace without a name.
  return space < 0 || tree.type(space) !== "namespace_definition" || tree.child(space, "name") >= 0;
}

function bind(tree: SyntaxTree, node: number, bound: (nameNode: number) => void): void {
  const type = tree.type(node);
  if (type === "preproc_params" || type.endsWith("type_parameter_declaration")) {
    for (const child of tree.children(node)) if ((tree.role(child) & ROLE.hideable) !== 0) bound(child);
    return;
  }
  for (const child of tree.children(node)) if (tree.field(child) === "declarator") bindDeclarator(tree, child, bound);
}

function bindDeclarator(tree: SyntaxTree, first: number, bound: (nameNode: number) => void): void {
  for (let at = first; at >= 0;) {
    const type = tree.type(at);
    if (type === "identifier") bound(at);
    if (type === "structured_binding_declarator") for (const name of tree.children(at)) bound(name);
    if (!type.endsWith("_declarator") || type === "structured_binding_declarator") return;
    const inner = tree.child(at, "declarator");
    at = inner >= 0 ? inner : at + 1 < tree.after(at) ? at + 1 : -1;
  }
}

function importsOf(tree: SyntaxTree, node: number, found: (specifier: string) => void): void {
  const path = tree.child(node, "path");
  // <vector> keeps its brackets: they say where to look.
  if (path >= 0) found(tree.textOf(path).replaceAll(/^"|"$/g, ""));
}
