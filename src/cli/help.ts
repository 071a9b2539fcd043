/** `tendril help`: every command with its purpose. */
import { pathParams } from '#contract/op'
import { groups } from './catalogue.ts'
import { kebab } from './names.ts'
import { ADD_ACCOUNT, CHAT, CONNECT, LOGOUT, serverCommands, UPLOAD, WATCH } from './own.ts'
import { ENVIRONMENT, firstSentence } from './syntax.ts'

const OWN: readonly [words: string, about: string][] = [
  ['login', 'Log in by approving a code in the browser, or with --api-key.'],
  ['logout', LOGOUT],
  ['whoami', 'Show the profile, the workspace and the connection.'],
  ['profiles list', 'List the deployments in ~/.tendril/config.json.'],
  ['profiles use <name>', 'Switch to a profile.'],
  ['profiles remove <name>', 'Remove a profile.'],
  ['agent chat', CHAT],
  ['agent jobs watch <id>', WATCH],
  ['agent documents upload <files…>', UPLOAD],
  ['agent channels connect <channel>', CONNECT],
  ['connections add <network>', ADD_ACCOUNT],
  ['completion bash|zsh|fish', 'Print a shell completion script.'],
  ['help [words…]', 'Show this list, or help for one command.'],
]

/** `server`: the server's commands, if this program includes them. */
export const listing = (server: readonly string[]): string => {
  const operations = groups.map(({ commands }) =>
    commands.map(({ group, name, operation }): readonly [string, string] => {
      const args = pathParams(operation.path).map((parameter) => ` <${kebab(parameter)}>`)
      return [`${group} ${name}${args.join('')}`, firstSentence(operation)]
    }),
  )
  const all = [...operations, [...OWN, ...serverCommands.filter(([name]) => server.includes(name))]]
  const width = Math.max(...all.flat().map(([words]) => words.length))
  return `${all.map((part) => part.map(([words, about]) => `tendril ${words.padEnd(width)}  ${about}\n`).join('')).join('\n')}\n${ENVIRONMENT}\n`
}
