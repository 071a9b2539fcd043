/** The commands that are not operations. */
import { Argument, Command } from 'commander'
import { channelNames } from '#contract/channel-names'
import type { Host } from './host.ts'
import { type AddedNetwork, addedNetworks } from './names.ts'
import { withCommon } from './syntax.ts'

const shells = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof shells)[number]

export interface Ground {
  host: Host
  /** Gets the work to do once the arguments have been parsed. */
  act(work: () => Promise<number>): void
  complete(shell: Shell): Promise<number>
  help(words: string[]): Promise<number>
}

/** The server's commands, which the single binary has. */
export const serverCommands: readonly [name: string, about: string][] = [
  ['serve', 'Start the server. The default without a command.'],
  ['admin', 'Manage workspaces, keys and plans: tendril admin --help.'],
  ['health', 'Exit with 0 if the server on PORT responds.'],
]

/** The help of `logout`, shown here and in the list of commands. */
export const LOGOUT = 'Remove the credentials of the profile, and revoke those that login created.'

/** The help of commands of the agent, shown here and in the list of commands. */
export const CHAT =
  'Talk to the agent: one message per line. Lines that begin with / are commands; /help lists them.'
export const WATCH = 'Follow a job to its end.'
export const UPLOAD = 'Add text files to the documents, each under its own name.'
export const CONNECT =
  'Connect a channel, step by step: what to do at its provider, and whether it agrees.'

/** The help of `connections add`, shown here and in the list of commands. */
export const ADD_ACCOUNT =
  'Connect an account of a network, step by step. Asks for its password without showing it.'

/** Options can follow each word, and the last one wins. */
export const withParents = (command: Command): Record<string, unknown> => ({
  ...(command.parent ? withParents(command.parent) : {}),
  ...command.opts(),
})

const accountCommands = ({ host, act }: Pick<Ground, 'host' | 'act'>): Command[] => {
  const run = (name: 'login' | 'logout' | 'whoami') => (_: unknown, command: Command) =>
    act(async () => (await import('./account.ts'))[name](withParents(command), host))
  return [
    withCommon(
      new Command('login').description(
        'Log in by approving a code in the browser, or with --api-key.',
      ),
    )
      .option('--scopes <list>', 'Scopes of the key. Default: api:read api:write mcp:use.')
      .option('--session', 'Log in as a person for an hour, for commands that API keys cannot run.')
      .option('--no-browser', 'Print the URL instead of opening a browser.')
      .action(run('login')),
    withCommon(new Command('logout').description(LOGOUT))
      .option('--local', 'Remove the credentials without revoking them.')
      .option('--revoke', 'Also revoke a key that you passed with --api-key.')
      .action(run('logout')),
    withCommon(
      new Command('whoami').description('Show the profile, the workspace and the connection.'),
    ).action(run('whoami')),
  ]
}

const profileCommands = ({ host, act }: Pick<Ground, 'host' | 'act'>): Command => {
  const group = withCommon(
    new Command('profiles').description('Manage the deployments in ~/.tendril/config.json.'),
  )
    .enablePositionalOptions()
    .helpCommand(false)
  const sub = (
    words: string,
    about: string,
    run: (args: string[], options: Record<string, unknown>) => Promise<number>,
  ) => {
    const command = withCommon(group.command(words).description(about))
    command.action(() => act(() => run(command.args, withParents(command))))
  }
  sub('list', 'List profiles.', async (_, options) =>
    (await import('./profiles.ts')).listProfiles(options, host),
  )
  sub('use <name>', 'Switch to a profile.', async ([name = '']) =>
    (await import('./profiles.ts')).useProfile(name, host),
  )
  sub(
    'remove <name>',
    'Remove a profile without revoking its credentials; tendril logout revokes them.',
    async ([name = '']) => (await import('./profiles.ts')).removeProfile(name, host),
  )
  return group
}

export const ownCommands = ({ host, act, complete, help }: Ground): Command[] => [
  ...accountCommands({ host, act }),
  profileCommands({ host, act }),
  new Command('completion')
    .description('Print a shell completion script: eval "$(tendril completion bash)".')
    .addArgument(new Argument('<shell>', 'The shell.').choices(shells))
    .action((shell: Shell) => act(() => complete(shell))),
  new Command('help')
    .description('List all commands, or show help for one.')
    .argument('[words...]')
    .action((words: string[]) => act(() => help(words))),
]

type Acting = Pick<Ground, 'host' | 'act'>

const asMe = (command: Command): Command =>
  command.option('--as-me', 'Act as the person signed in with tendril login --session.')

const chatCommand = ({ host, act }: Acting): Command => {
  const chat = withCommon(new Command('chat').description(CHAT))
    .option('--conversation <id>', 'Go on with a conversation.')
    .option('--title <text>', 'The title of a new conversation.')
  return asMe(chat).action(() =>
    act(async () => (await import('./agent/chat.ts')).chat(withParents(chat), host)),
  )
}

const uploadCommand = ({ host, act }: Acting): Command => {
  const files = withCommon(new Command('upload').description(UPLOAD))
    .argument('<files...>', 'Text or Markdown, at most 1 MiB each.')
    .option('--trusted', 'Vouch for what they say: the agent takes it for text of the workspace.')
  return asMe(files).action((paths: string[]) =>
    act(async () => (await import('./agent/upload.ts')).upload(paths, withParents(files), host)),
  )
}

const watchCommand = ({ host, act }: Acting): Command => {
  const watch = withCommon(new Command('watch').description(WATCH)).argument('<id>', 'The job.')
  return asMe(watch).action((id: string) =>
    act(async () => (await import('./agent/watch.ts')).watch(id, withParents(watch), host)),
  )
}

const more = (value: string, before: string[] = []): string[] => [...before, value]

const connectCommand = ({ host, act }: Acting): Command => {
  const connect = withCommon(new Command('connect').description(CONNECT))
    .addArgument(new Argument('<channel>', 'The channel.').choices(channelNames))
    .option('--routing-key <key>', 'By what posts name it; asked for otherwise.')
    .option(
      '--credential <name=value>',
      'A credential; @file reads it from a file. Those that are missing are asked for.',
      more,
    )
    .option('--config <name=value>', 'A value of its configuration.', more)
    .option('--display-name <name>', 'What people call it.')
    .option('--sender-policy <policy>', 'members or anyone. Default: members.')
    .option('--wait <seconds>', 'How long to wait for its provider. Default: 60.')
  return asMe(connect).action((channel: string) =>
    act(async () =>
      (await import('./agent/connect.ts')).connectChannel(channel, withParents(connect), host),
    ),
  )
}

const addAccountCommand = ({ host, act }: Acting): Command => {
  const add = withCommon(new Command('add').description(ADD_ACCOUNT))
    .addArgument(new Argument('<network>', 'The network.').choices(addedNetworks))
    .option('--handle <handle>', 'The handle of the account; asked for otherwise.')
    .option('--service <url>', 'The server to sign in at. Default: the one of the deployment.')
    .option('--no-keep', 'Forget the app password once the session has begun.')
    .option('--default', 'Use this account for new approvals.')
    .option('--oauth', 'Grant access on a page of the network, without a password.')
    .option('--no-browser', 'With --oauth: print the URL instead of opening a browser.')
  return add.action((network: AddedNetwork) =>
    act(async () =>
      (await import('./connect-account.ts')).addAccount(network, withParents(add), host),
    ),
  )
}

const among: Record<string, (acting: Acting) => Command> = {
  agent: chatCommand,
  'agent documents': uploadCommand,
  'agent jobs': watchCommand,
  'agent channels': connectCommand,
  connections: addAccountCommand,
}

/** Commands that appear among operations, in an area or in a group. */
export const ownCommandsIn = (place: string, acting: Acting): Command[] => {
  const make = among[place]
  return make ? [make(acting)] : []
}
