/** Builds the command line. To start fast, it builds only the requested command out of some two hundred. */
import { Command } from 'commander'
import type { NamedOp } from '#contract/op'
import { version } from '../../package.json'
import { type CommandGroup, groups } from './catalogue.ts'
import { examplesOf } from './example.ts'
import { type Ground, ownCommands, serverCommands } from './own.ts'
import { ENVIRONMENT, syntaxOf, titleOf, withCommon } from './syntax.ts'

export interface Setting extends Ground {
  /** The server's commands, if this program includes them. */
  server: readonly string[]
}

const WITH_VALUE = new Set(['--profile', '--api-url', '--api-key'])

/** The first two words that are not options: the group and the command. */
const wordsIn = (argv: readonly string[]): string[] => {
  const words: string[] = []
  for (let at = 0; at < argv.length && words.length < 2; at++) {
    const word = argv[at]!
    if (word === '--') break
    if (WITH_VALUE.has(word)) at++
    else if (!word.startsWith('-')) words.push(word)
  }
  return words
}

export const operationAt = (argv: readonly string[]): NamedOp | undefined => {
  const [group, name] = wordsIn(argv)
  return groups.find((one) => one.name === group)?.commands.find((one) => one.name === name)?.operation
}

const examples = (o: NamedOp, words: string): string =>
  `\nExamples:\n${examplesOf(o)
    .map((example) => `  tendril ${words} ${example}`.trimEnd())
    .join('\n')}`

/** Options can follow each word; the last one wins. */
const optionsOf = (command: Command): Record<string, unknown> => ({
  ...(command.parent ? optionsOf(command.parent) : {}),
  ...command.opts(),
})

const operationCommand = ({ group, name, operation }: CommandGroup['commands'][number], { host, act }: Ground): Command => {
  const command = syntaxOf(operation, name).addHelpText('after', () => examples(operation, `${group} ${name}`))
  return command.action(() => {
    const parsed = { args: command.args, options: optionsOf(command) }
    act(async () => (await import('./run-operation.ts')).runOperation(operation, parsed, host))
  })
}

/** All groups and commands. */
const ALL = Symbol('all')

const groupCommand = (group: CommandGroup, chosen: string | typeof ALL | undefined, ground: Ground): Command => {
  const command = withCommon(new Command(group.name)).description(group.about).enablePositionalOptions().helpCommand(false)
  command.commandsGroup('Commands:')
  for (const one of group.commands)
    command.addCommand(
      chosen === ALL || one.name === chosen ? operationCommand(one, ground) : new Command(one.name).summary(titleOf(one.operation)),
    )
  return command
}

const programOf = (first: string | typeof ALL | undefined, second: string | typeof ALL | undefined, setting: Setting): Command => {
  const program = withCommon(new Command('tendril')).helpCommand(false).enablePositionalOptions()
  program.description('Tendril on the command line: one command per API operation.').version(`tendril ${version}`, '--version')
  program.commandsGroup('Operations:')
  for (const group of groups) {
    const isChosen = first === ALL || group.name === first
    program.addCommand(isChosen ? groupCommand(group, second, setting) : new Command(group.name).description(group.about))
  }
  program.commandsGroup('This program:')
  for (const command of ownCommands(setting)) program.addCommand(command)
  for (const [name, about] of serverCommands)
    if (setting.server.includes(name)) program.addCommand(new Command(name).description(about).helpCommand(false))
  program.addHelpText('after', `\nRun tendril help to list all commands, or tendril <group> <command> --help for one.\n${ENVIRONMENT}`)
  return program
}

/** A program that can parse these arguments. Other commands exist by name only, for help and suggestions. */
export const programFor = (argv: readonly string[], setting: Setting): Command => {
  const [first, second] = wordsIn(argv)
  const isPlain = first === argv[0] && second === argv[1]
  const group = isPlain ? groups.find(({ name }) => name === first) : undefined
  const command = group?.commands.find(({ name }) => name === second)
  return group && command ? shortest({ ...group, commands: [command] }, setting) : programOf(first, second, setting)
}

/** For valid words: only the path to their command. */
const shortest = (group: CommandGroup, setting: Setting): Command => {
  const program = new Command('tendril').helpCommand(false).enablePositionalOptions()
  return program.addCommand(groupCommand(group, ALL, setting))
}

/** Builds every command in full. */
export const wholeProgram = (setting: Setting): Command => programOf(ALL, ALL, setting)
