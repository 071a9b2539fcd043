/** The commands that are no operations. */
import { Argument, Command } from 'commander'
import type { Host } from './host.ts'
import { withCommon } from './syntax.ts'

const shells = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof shells)[number]

/** What a command needs to be able to act. */
export interface Ground {
  host: Host
  /** Takes what is to be done, once the arguments are understood. */
  act(work: () => Promise<number>): void
  complete(shell: Shell): Promise<number>
  help(words: string[]): Promise<number>
}

/** Of the server, in the single binary. */
export const serverCommands: readonly [name: string, about: string][] = [
  ['serve', 'Start the server, as no command at all does.'],
  ['admin', 'Create workspaces and keys: tendril admin --help.'],
  ['health', 'Exit code 0 when the server on PORT answers.'],
]

/** For `logout`, here and in the list of commands. */
export const LOGOUT = 'Forget what the profile holds, and revoke what login made.'

const allOptions = (command: Command): Record<string, unknown> => ({ ...command.parent?.opts(), ...command.opts() })

const accountCommands = ({ host, act }: Pick<Ground, 'host' | 'act'>): Command[] => {
  const run = (name: 'login' | 'logout' | 'whoami') => (_: unknown, command: Command) =>
    act(async () => (await import('./account.ts'))[name](allOptions(command), host))
  return [
    withCommon(new Command('login').description('Log in: by approving a code in the browser, or with --api-key.'))
      .option('--scopes <list>', 'What the key may do; api:read api:write mcp:use unless said.')
      .option('--session', 'As a person, for about an hour: for what keys may not do.')
      .option('--no-browser', 'Open none; show the address alone.')
      .action(run('login')),
    withCommon(new Command('logout').description(LOGOUT))
      .option('--local', 'Revoke nothing; forget what the profile holds.')
      .option('--revoke', 'Revoke a key that was given with --api-key, too.')
      .action(run('logout')),
    withCommon(new Command('whoami').description('Show the profile, the workspace and the connection.')).action(run('whoami')),
  ]
}

const profileCommands = ({ host, act }: Pick<Ground, 'host' | 'act'>): Command => {
  const group = withCommon(new Command('profiles').description('The deployments in ~/.tendril/config.json.'))
    .enablePositionalOptions()
    .helpCommand(false)
  const sub = (words: string, about: string, run: (args: string[], options: Record<string, unknown>) => Promise<number>) => {
    const command = withCommon(group.command(words).description(about))
    command.action(() => act(() => run(command.args, { ...group.parent?.opts(), ...group.opts(), ...command.opts() })))
  }
  sub('list', 'List them.', async (_, options) => (await import('./profiles.ts')).list(options, host))
  sub('use <name>', 'Make one the current one.', async ([name = '']) => (await import('./profiles.ts')).use(name, host))
  sub('remove <name>', 'Forget one and revoke nothing: tendril logout revokes what login made.', async ([name = '']) =>
    (await import('./profiles.ts')).remove(name, host),
  )
  return group
}

export const ownCommands = ({ host, act, complete, help }: Ground): Command[] => [
  ...accountCommands({ host, act }),
  profileCommands({ host, act }),
  new Command('completion')
    .description('Print a script that completes commands: eval "$(tendril completion bash)".')
    .addArgument(new Argument('<shell>', 'Which shell.').choices(shells))
    .action((shell: Shell) => act(() => complete(shell))),
  new Command('help')
    .description('List every command, or explain one.')
    .argument('[words...]')
    .action((words: string[]) => act(() => help(words))),
]
