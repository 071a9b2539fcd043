import type { CommandPlace } from './places.ts'

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** `name:about`, the form that _describe reads. */
const entry = (name: string, about: string): string =>
  quote(`${name.replaceAll(':', '\\:')}:${about}`)

const arm = ({ words, children, flags }: CommandPlace): string =>
  `    ${quote(words)}) _tendril_subs=(${children.map(([name, about]) => entry(name, about)).join(' ')})
      _tendril_flags=(${flags.map(({ name, about }) => entry(name, about)).join(' ')}) ;;`

const values = ({ words, flags }: CommandPlace): string[] =>
  flags
    .filter(({ takesValue }) => takesValue)
    .map(
      ({ name, choices }) =>
        `    ${quote(`${words} ${name}`)}) _tendril_is_value=1 _tendril_subs=(${choices.map(quote).join(' ')}) ;;`,
    )

/**
 * `words`, `CURRENT` and `_describe` belong to zsh. Avoids `path`, `commands` and `options`, which
 * have meanings in zsh.
 */
export const completionZsh = (places: readonly CommandPlace[]): string => `#compdef tendril
# zsh completion for tendril: eval "$(tendril completion zsh)", or this text as _tendril in a folder of $fpath
_tendril() {
  local _tendril_cur="\${words[CURRENT]}" _tendril_prev="\${words[CURRENT-1]}" _tendril_at='' _tendril_next _tendril_is_value='' i
  local -a _tendril_subs _tendril_flags
  for ((i = 2; i < CURRENT; i++)); do
    _tendril_next="\${_tendril_at:+$_tendril_at }\${words[i]}"
    case "$_tendril_next" in
      (${places
        .filter(({ words }) => words !== '')
        .map(({ words }) => quote(words))
        .join('|')}) _tendril_at="$_tendril_next" ;;
    esac
  done
  case "$_tendril_at" in
${places.map(arm).join('\n')}
  esac
  case "$_tendril_at $_tendril_prev" in
${places.flatMap(values).join('\n')}
  esac
  if [[ -n $_tendril_is_value && $_tendril_cur == @* ]]; then
    compset -P @
    _files
  elif [[ $_tendril_cur == -* && -z $_tendril_is_value ]]; then
    _describe -t options option _tendril_flags
  elif (( \${#_tendril_subs} )); then
    _describe -t commands command _tendril_subs
  fi
}
if [[ \${funcstack[1]} == _tendril ]]; then
  _tendril "$@"
else
  (( \${+functions[compdef]} )) || { autoload -Uz compinit && compinit }
  compdef _tendril tendril
fi
`
