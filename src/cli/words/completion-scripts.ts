/**
 * The completion scripts. Words and files are in the script, so that they are offered at once; only names of things
 * (plans, actors, settings) are asked of the program. The three shells get one algorithm, each in its own language: it
 * walks over the words before the cursor, and knows then in which command it is, at which position, and whether an
 * option waits for its value.
 */
import { places, type Offered, type CommandPlace } from "./completion-table.ts";

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

function fishQuoted(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", String.raw`\'`)}'`;
}

function bare(words: readonly Offered[]): string {
  return words.map(({ word }) => word).join(" ");
}

/** Each key of the table with the offer there: "plan diff --output" or, by position, "plan diff 0". */
function offers({ path, values, positions }: CommandPlace): { readonly key: string; readonly offer: string }[] {
  const given = [...values].map(([word, offer]) => ({ key: `${path} ${word}`.trim(), offer }));
  const byPosition = positions.map(({ offer }, at) => ({ key: `${path} ${at}`.trim(), offer }));
  return [...given, ...byPosition];
}

/** The pattern of a position that takes all further words. */
function further({ path, positions }: CommandPlace): { readonly key: string; readonly offer: string }[] {
  const last = positions.at(-1);
  return last?.many === true ? [{ key: `${path} `, offer: last.offer }] : [];
}

/** `case` of bash and zsh. */
function offerCases(): string {
  const all = places();
  const exact = all.flatMap(offers).map(({ key, offer }) => `    ${quoted(key)}) offer=${quoted(offer)} ;;`);
  const rest = all.flatMap(further).map(({ key, offer }) => `    ${quoted(key)}[0-9]*) offer=${quoted(offer)} ;;`);
  return [...exact, ...rest].join("\n");
}

const WALK = `    if [ -n "$takes" ]; then
      if [ "$word" != "=" ]; then
        case "$takes" in --data-dir|--store|--config-path) given+=("$takes" "$word") ;; esac
        takes=""
      fi
      continue
    fi
    case "$word" in
      -*)
        offer=""
        _agents_offer "\${place:+$place }$word"
        if [ -n "$offer" ]; then takes="$word"; fi ;;
      *)
        subcommands=""
        _agents_words "$place"
        case " $subcommands " in
          *" $word "*) place="\${place:+$place }$word"; at=0 ;;
          *) at=$((at + 1)) ;;
        esac ;;
    esac`;

const CHOOSE = `  offer="" subcommands="" options=""
  _agents_words "$place"
  if [ -n "$takes" ]; then
    _agents_offer "\${place:+$place }$takes"
  elif [ "\${current#-}" != "$current" ]; then
    offer="options"
  elif [ -n "$subcommands" ]; then
    offer="subcommands"
  else
    _agents_offer "\${place:+$place }$at"
    if [ -z "$offer" ]; then offer="options"; fi
  fi
  case "$offer/$current" in @plan/0*) offer="@plan-id" ;; esac`;

export function bash(): string {
  const words = places().map(
    ({ path, subcommands, options }) =>
      `    ${quoted(path)}) subcommands=${quoted(bare(subcommands))} options=${quoted(bare(options))} ;;`,
  );
  return `# agents completion for bash: eval "$(agents completion bash)", or agents completion bash --install
_agents_words() {
  case "$1" in
${words.join("\n")}
  esac
}
_agents_offer() {
  case "$1" in
${offerCases()}
  esac
}
_agents() {
  local program="\${COMP_WORDS[0]}" current="\${COMP_WORDS[COMP_CWORD]}" place="" takes="" at=0 i word
  local offer subcommands options IFS=$' \\t\\n'
  local -a given=()
  if [ "$current" = "=" ]; then current=""; fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
${WALK}
  done
${CHOOSE}
  COMPREPLY=()
  case "$offer" in
    subcommands) COMPREPLY=($(compgen -W "$subcommands" -- "$current")) ;;
    options) COMPREPLY=($(compgen -W "$options" -- "$current")) ;;
    "="*) COMPREPLY=($(compgen -W "\${offer#=}" -- "$current")) ;;
    @*)
      word="$("$program" completion bash --values "\${offer#@}" "\${given[@]}" 2>/dev/null)"
      COMPREPLY=($(compgen -W "$word" -- "$current")) ;;
    files) compopt -o filenames 2>/dev/null; IFS=$'\\n'; COMPREPLY=($(compgen -f -- "$current")) ;;
    directories) compopt -o filenames 2>/dev/null; IFS=$'\\n'; COMPREPLY=($(compgen -d -- "$current")) ;;
  esac
}
complete -F _agents agents cleveragents
`;
}

export function zsh(): string {
  const described = (name: string, words: readonly Offered[]): string =>
    `${name}=(${words.map(({ word, about }) => quoted(`${word}:${about}`)).join(" ")})`;
  const words = places().map(
    ({ path, subcommands, options }) =>
      `    ${quoted(path)}) subcommands=${quoted(bare(subcommands))}; ${described("describedSubcommands", subcommands)}; ${described("describedOptions", options)} ;;`,
  );
  return `#compdef agents cleveragents
# agents completion for zsh: eval "$(agents completion zsh)", or agents completion zsh --install
_agents_words() {
  case "$1" in
${words.join("\n")}
  esac
}
_agents_offer() {
  case "$1" in
${offerCases()}
  esac
}
_agents() {
  local program="$words[1]" current="\${words[CURRENT]}" place="" takes="" offer subcommands options word line
  local -a given describedSubcommands describedOptions names shown
  integer at=0 i
  for ((i = 2; i < CURRENT; i++)); do
    word="\${words[i]}"
${WALK}
  done
${CHOOSE}
  case "$offer" in
    subcommands) _describe command describedSubcommands ;;
    options) _describe option describedOptions ;;
    "="*) compadd -- \${=offer#=} ;;
    @*)
      for line in "\${(@f)$("$program" completion zsh --values "\${offer#@}" "\${given[@]}" 2>/dev/null)}"; do
        if [ -z "$line" ]; then continue; fi
        names+=("\${line%%$'\\t'*}")
        shown+=("\${line/$'\\t'/  -- }")
      done
      compadd -l -d shown -a names ;;
    files) _files ;;
    directories) _files -/ ;;
  esac
}
if [ "$funcstack[1]" = "_agents" ]; then
  _agents "$@"
else
  if ! (( $+functions[compdef] )); then autoload -Uz compinit && compinit; fi
  compdef _agents agents cleveragents
fi
`;
}

const FISH_COMPLETE = `function __agents_complete
  set -l words (commandline -opc)
  set -l current (commandline -ct)
  set -l place ""
  set -l takes ""
  set -l at 0
  set -l given
  for word in $words[2..-1]
    if test -n "$takes"
      if contains -- $takes --data-dir --store --config-path
        set -a given $takes $word
      end
      set takes ""
      continue
    end
    if string match -q -- '-*' $word
      if test -n "$(__agents_offer (string trim -- "$place $word"))"
        set takes $word
      end
    else if __agents_subcommands "$place" | string match -q -r -- '^'(string escape --style=regex -- $word)'\\t'
      set place (string trim -- "$place $word")
      set at 0
    else
      set at (math $at + 1)
    end
  end
  set -l offer
  if test -n "$takes"
    set offer (__agents_offer (string trim -- "$place $takes"))
  else if string match -q -- '-*' "$current"
    set offer options
  else if test -n "$(__agents_subcommands "$place")"
    set offer subcommands
  else
    set offer (__agents_offer (string trim -- "$place $at"))
    test -n "$offer"; or set offer options
  end
  if test "$offer" = "@plan"; and string match -q -- '0*' "$current"
    set offer @plan-id
  end
  switch "$offer"
    case subcommands
      __agents_subcommands "$place"
    case options
      __agents_options "$place"
    case '=*'
      string split ' ' -- (string sub -s 2 -- "$offer")
    case '@*'
      $words[1] completion fish --values (string sub -s 2 -- "$offer") $given 2>/dev/null
    case files
      __fish_complete_path "$current"
    case directories
      __fish_complete_directories "$current"
  end
end
complete -c agents -f -a '(__agents_complete)'
complete -c cleveragents -w agents
`;

export function fish(): string {
  const printed = (words: readonly Offered[]): string =>
    words.map(({ word, about }) => fishQuoted(`${word}\t${about}`)).join(" ");
  const all = places();
  const subcommands = all
    .filter((place) => place.subcommands.length > 0)
    .map((place) => `    case ${fishQuoted(place.path)}\n      printf '%s\\n' ${printed(place.subcommands)}`);
  const options = all.map(
    ({ path, options: own }) => `    case ${fishQuoted(path)}\n      printf '%s\\n' ${printed(own)}`,
  );
  const exact = all
    .flatMap(offers)
    .map(({ key, offer }) => `    case ${fishQuoted(key)}\n      echo ${fishQuoted(offer)}`);
  const rest = all
    .flatMap(further)
    .map(({ key, offer }) => `    case ${fishQuoted(`${key}*`)}\n      echo ${fishQuoted(offer)}`);
  return `# agents completion for fish: agents completion fish | source, or agents completion fish --install
function __agents_subcommands
  switch "$argv[1]"
${subcommands.join("\n")}
  end
end
function __agents_options
  switch "$argv[1]"
${options.join("\n")}
  end
end
function __agents_offer
  switch "$argv[1]"
${[...exact, ...rest].join("\n")}
  end
end
${FISH_COMPLETE}`;
}
