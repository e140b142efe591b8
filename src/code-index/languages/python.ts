import type { DefinitionKind, Span } from "../model/facts.ts";
import { type DefinitionSite, type Grammar, type Surroundings, ROLE } from "./grammar.ts";
import { valueStart } from "./signature.ts";
import type { SyntaxTree } from "./syntax-tree.ts";

const PATTERN = ROLE.kept;

export const PYTHON: Grammar = {
  file: "tree-sitter-python.wasm",
  roles: {
    identifier: ROLE.name | ROLE.leaf | ROLE.hideable,
    comment: ROLE.comment | ROLE.leaf,
    integer: ROLE.opaque,
    float: ROLE.opaque,
    true: ROLE.opaque,
    false: ROLE.opaque,
    none: ROLE.opaque,
    module: ROLE.kept,
    block: ROLE.children,
    if_statement: ROLE.kept,
    try_statement: ROLE.kept,
    else_clause: ROLE.kept,
    except_clause: ROLE.kept,
    expression_statement: ROLE.children,
    string: ROLE.kept,
    decorated_definition: ROLE.kept,
    class_definition: ROLE.defines | ROLE.children,
    function_definition: ROLE.defines | ROLE.children | ROLE.scope | ROLE.runs,
    type_alias_statement: ROLE.defines | ROLE.children,
    lambda: ROLE.scope | ROLE.runs,
    assignment: ROLE.defines | ROLE.binds | ROLE.children,
    named_expression: ROLE.binds | ROLE.children,
    for_statement: ROLE.binds | ROLE.children,
    for_in_clause: ROLE.binds | ROLE.children,
    as_pattern_target: ROLE.binds,
    parameters: ROLE.binds,
    lambda_parameters: ROLE.binds,
    typed_parameter: ROLE.children,
    default_parameter: ROLE.children,
    typed_default_parameter: ROLE.children,
    pattern_list: PATTERN,
    tuple_pattern: PATTERN,
    list_pattern: PATTERN,
    list_splat_pattern: PATTERN,
    dictionary_splat_pattern: PATTERN,
    attribute: ROLE.qualified | ROLE.children,
    keyword_argument: ROLE.qualified | ROLE.children,
    import_statement: ROLE.imports | ROLE.children,
    import_from_statement: ROLE.imports | ROLE.children,
    aliased_import: ROLE.children,
  },
  memberFields: ["attribute", "name"],
  define,
  bind,
  import: importsOf,
};

function define(tree: SyntaxTree, node: number, place: Surroundings): DefinitionSite | undefined {
  switch (tree.type(node)) {
    case "assignment":
      return place.local ? undefined : assignment(tree, node, place);
    case "type_alias_statement":
      return alias(tree, node, place);
    case "class_definition":
      return declaration(tree, node, "class", place);
    default:
      return declaration(tree, node, isInClass(tree, node) ? "method" : "function", place);
  }
}

function declaration(
  tree: SyntaxTree,
  node: number,
  kind: DefinitionKind,
  place: Surroundings,
): DefinitionSite | undefined {
  const name = tree.child(node, "name");
  const body = tree.child(node, "body");
  if (name < 0) return undefined;
  const parent = tree.parent(node);
  // A comment between the colon and the first statement belongs to neither.
  const comment = tree.childOfType(node, "comment");
  const bodyStart = body < 0 ? -1 : tree.start(body);
  return {
    name: tree.textOf(name),
    nameNode: name,
    kind,
    exported: isVisible(tree.textOf(name), place),
    outer: parent >= 0 && tree.type(parent) === "decorated_definition" ? parent : node,
    bodyStart: comment >= 0 && tree.start(comment) < bodyStart ? tree.start(comment) : bodyStart,
    doc: docstring(tree, body),
  };
}

function docstring(tree: SyntaxTree, body: number): Span | undefined {
  const statement = body + 1;
  if (body < 0 || statement >= tree.after(body) || tree.type(statement) !== "expression_statement") return undefined;
  const text = tree.childOfType(statement, "string");
  return text < 0 ? undefined : { start: tree.start(text), end: tree.end(text) };
}

/** Variables of a module and of a class, also those behind an `if` or `try` at the top. */
function assignment(tree: SyntaxTree, node: number, place: Surroundings): DefinitionSite | undefined {
  const left = tree.child(node, "left");
  const statement = tree.parent(node);
  if (left < 0 || tree.type(left) !== "identifier" || tree.type(statement) !== "expression_statement") return undefined;
  let above = tree.parent(statement);
  if (tree.type(above) === "block") above = tree.parent(above);
  while (/^(?:if|try)_statement$|^(?:else|except)_clause$|^block$/.test(tree.type(above))) above = tree.parent(above);
  const owner = tree.type(above);
  if (owner !== "module" && owner !== "class_definition") return undefined;
  return {
    name: tree.textOf(left),
    nameNode: left,
    kind: owner === "module" ? "variable" : "field",
    exported: isVisible(tree.textOf(left), place),
    outer: statement,
    bodyStart: valueStart(tree, statement, tree.child(node, "right")),
    once: true,
  };
}

function alias(tree: SyntaxTree, node: number, place: Surroundings): DefinitionSite | undefined {
  const left = tree.child(node, "left");
  const name = /^\w+/.exec(left < 0 ? "" : tree.textOf(left))?.[0] ?? "";
  return { name, nameNode: left + 1, kind: "type", exported: isVisible(name, place), outer: node, bodyStart: -1 };
}

function isInClass(tree: SyntaxTree, node: number): boolean {
  let above = tree.parent(node);
  if (above >= 0 && tree.type(above) === "decorated_definition") above = tree.parent(above);
  return above >= 0 && tree.type(above) === "block" && tree.type(tree.parent(above)) === "class_definition";
}

function isVisible(name: string, place: Surroundings): boolean {
  const isPrivate = name.startsWith("_") && !/^__\w+__$/.test(name);
  return !isPrivate && !place.local && place.container?.exported !== false;
}

function bind(tree: SyntaxTree, node: number, bound: (nameNode: number) => void): void {
  switch (tree.type(node)) {
    case "assignment":
    case "for_statement":
    case "for_in_clause":
      bindPattern(tree, tree.child(node, "left"), bound);
      return;
    case "named_expression":
      bindPattern(tree, tree.child(node, "name"), bound);
      return;
    default:
      for (const child of tree.children(node)) bindPattern(tree, child, bound);
  }
}

function bindPattern(tree: SyntaxTree, first: number, bound: (nameNode: number) => void): void {
  const pending = [first];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    const type = node < 0 ? "" : tree.type(node);
    if (type === "identifier") bound(node);
    else if (type.endsWith("default_parameter")) pending.push(tree.child(node, "name"));
    else if (type === "typed_parameter") pending.push(node + 1);
    else if (type.includes("pattern")) for (const child of tree.children(node)) pending.push(child);
  }
}

function importsOf(tree: SyntaxTree, node: number, found: (specifier: string) => void): void {
  const names = tree.children(node).filter((child) => tree.field(child) === "name");
  const nameOf = (child: number): string => {
    const name = tree.type(child) === "aliased_import" ? tree.child(child, "name") : child;
    return name < 0 ? "" : withoutSpace(tree.textOf(name));
  };
  if (tree.type(node) === "import_statement") {
    for (const name of names) found(nameOf(name));
    return;
  }
  const module = tree.child(node, "module_name");
  const specifier = module < 0 ? "" : withoutSpace(tree.textOf(module));
  // `from . import store` names a module beside this one.
  if (/^\.+$/.test(specifier) && names.length > 0) for (const name of names) found(specifier + nameOf(name));
  else found(specifier);
}

function withoutSpace(text: string): string {
  return text.replaceAll(/[\s\\]+/g, "");
}
