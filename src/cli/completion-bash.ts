import type { CommandPlace } from './places.ts'

const arm = ({ words, children, flags }: CommandPlace): string =>
  `    '${words}') subs='${children.map(([name]) => name).join(' ')}' flags='${flags.map(({ name }) => name).join(' ')}' ;;`

const values = ({ words, flags }: CommandPlace): string[] =>
  flags
    .filter(({ takesValue }) => takesValue)
    .map(
      ({ name, choices }) =>
        `    '${words} ${name}') subs='${choices.join(' ')}' flags='' isValue=1 ;;`,
    )

/** For bash 3.2, which macOS has, and later. */
export const completionBash = (
  places: readonly CommandPlace[],
): string => `# bash completion for tendril: eval "$(tendril completion bash)"
_tendril() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD - 1]}" at='' next word i subs='' flags='' isValue=''
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    next="\${at:+$at }$word"
    case "$next" in
${places
  .filter(({ words }) => words !== '')
  .map(({ words }) => `    '${words}') at="$next" ;;`)
  .join('\n')}
    esac
  done
  if [[ $cur == '=' ]]; then cur=''; fi
  if [[ $prev == '=' ]]; then prev="\${COMP_WORDS[COMP_CWORD - 2]}"; fi
  case "$at" in
${places.map(arm).join('\n')}
  esac
  case "$at $prev" in
${places.flatMap(values).join('\n')}
  esac
  if [[ -n $isValue && $cur == @* ]]; then
    COMPREPLY=($(compgen -P @ -f -- "\${cur#@}"))
  elif [[ $cur == -* ]]; then
    COMPREPLY=($(compgen -W "$flags" -- "$cur"))
  else
    COMPREPLY=($(compgen -W "$subs" -- "$cur"))
  fi
}
complete -F _tendril tendril
`
