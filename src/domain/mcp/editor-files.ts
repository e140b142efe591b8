/**
 * The files with servers that VS Code and Cursor write have forms of variables of their own, and comments. An editor
 * asks for an input; here it is a variable of the environment, because a plan may run where no one can be asked.
 */
const FORM = /\$\{(env|input):([^}]+)\}|\$\{userHome\}|\$\{(?:pathSeparator|\/)\}/g;

/** `${env:NAME}` is `${NAME}`, and `${input:api-token}` is `${API_TOKEN}`. */
export function ourVariables(text: string): string {
  return text.replaceAll(FORM, (form, kind: string | undefined, name = "") => {
    if (kind === "env") return `\${${name}}`;
    if (kind === "input")
      return `\${${name
        .toUpperCase()
        .replaceAll(/[^A-Z0-9_]/g, "_")
        .replace(/^(?=\d)/, "_")}}`;
    return form === "${userHome}" ? "${HOME}" : "/";
  });
}

/** A form in the text that only an editor can fill in. */
export function editorForm(text: string): string | undefined {
  return /\$\{(?:command|config|workspaceFolder):(?!-)[^}]*\}|\$\{workspaceFolderBasename\}/.exec(text)?.[0];
}

export function editorProblem(form: string): string {
  return `has ${form}, which only an editor can fill in; write the value, or a variable of your environment as \${NAME}`;
}

const STRING = /"(?:[^"\\\n]|\\.)*"/.source;
const COMMENT = new RegExp(String.raw`${STRING}|//[^\n]*|/\*[\s\S]*?\*/`, "g");
const COMMA = new RegExp(String.raw`${STRING}|,(?=\s*[}\]])`, "g");

/** The JSON without the comments and last commas that editors allow. */
export function withoutComments(text: string): string {
  const keepStrings = (found: string): string => (found.startsWith('"') ? found : "");
  return text.replaceAll(COMMENT, keepStrings).replaceAll(COMMA, keepStrings);
}
