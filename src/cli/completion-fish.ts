import type { CommandPlace } from './places.ts'

const quote = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`

const arm = ({ words, children, flags }: CommandPlace): string => {
  const entries = [...children, ...flags.map(({ name, about }) => [name, about] as const)]
  return `    case ${quote(words)}\n      printf '%s\\t%s\\n' ${entries.map(([name, about]) => `${quote(name)} ${quote(about)}`).join(' ')}`
}

const values = ({ words, flags }: CommandPlace): string[] =>
  flags
    .filter(({ takesValue }) => takesValue)
    .map(({ name, choices }) => {
      const print =
        choices.length > 0 ? `      printf '%s\\n' ${choices.map(quote).join(' ')}\n` : ''
      return `    case ${quote(`${words} ${name}`)}\n${print}      return`
    })

export const completionFish = (
  places: readonly CommandPlace[],
): string => `# fish completion for tendril: tendril completion fish | source
function __tendril_complete
  set -l tokens (commandline -opc)
  set -l at ''
  for word in $tokens[2..-1]
    set -l next (string trim -- "$at $word")
    switch "$next"
      case ${places
        .filter(({ words }) => words !== '')
        .map(({ words }) => quote(words))
        .join(' ')}
        set at "$next"
    end
  end
  if string match -q -- '@*' (commandline -ct)
    __fish_complete_path (string sub -s 2 -- (commandline -ct)) | string replace -r '^' @
    return
  end
  switch "$at $tokens[-1]"
${places.flatMap(values).join('\n')}
  end
  switch "$at"
${places.map(arm).join('\n')}
  end
end
complete -c tendril -e
complete -c tendril -f -a '(__tendril_complete)'
`
