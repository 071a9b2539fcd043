/**
 * Builds the command line. To start quickly, it builds only the requested one of about two hundred
 * commands.
 */
import { Command } from 'commander'
import type { NamedOp } from '#contract/op'
import { version } from '../../package.json'
import { areas, type CommandGroup, commandAt, groups, type NamedCommand } from './catalogue.ts'
import { examplesOf } from './example.ts'
import { type Ground, ownCommands, ownCommandsIn, serverCommands, withParents } from './own.ts'
import { ENVIRONMENT, firstSentence, syntaxOf, withCommon } from './syntax.ts'

export interface Setting extends Ground {
  /** The server's commands, if this program includes them. */
  server: readonly string[]
}

/** `agent jobs get` has three. */
const MOST_WORDS = 3

const WITH_VALUE = new Set(['--profile', '--api-url', '--api-key'])

/** The first words that are not options: the group, of one word or two, and the command. */
const wordsIn = (argv: readonly string[]): string[] => {
  const words: string[] = []
  for (let at = 0; at < argv.length && words.length < MOST_WORDS; at++) {
    const word = argv[at]!
    if (word === '--') break
    if (WITH_VALUE.has(word)) at++
    else if (!word.startsWith('-')) words.push(word)
  }
  return words
}

export const operationAt = (argv: readonly string[]): NamedOp | undefined =>
  commandAt(wordsIn(argv))?.operation

const examples = (o: NamedOp, words: string): string =>
  `\nExamples:\n${examplesOf(o)
    .map((example) => `  tendril ${words} ${example}`.trimEnd())
    .join('\n')}`

const operationCommand = (
  { group, name, operation }: NamedCommand,
  { host, act }: Ground,
): Command => {
  const command = syntaxOf(operation, name).addHelpText('after', () =>
    examples(operation, `${group} ${name}`),
  )
  return command.action(() => {
    const parsed = { args: command.args, options: withParents(command) }
    act(async () => (await import('./run-operation.ts')).runOperation(operation, parsed, host))
  })
}

/** All groups and commands. */
const ALL = Symbol('all')

const branch = (name: string, about: string): Command =>
  withCommon(new Command(name))
    .description(about)
    .enablePositionalOptions()
    .helpCommand(false)
    .commandsGroup('Commands:')

const groupCommand = (
  { name: group, about, commands }: CommandGroup,
  chosen: string | typeof ALL | undefined,
  ground: Ground,
): Command => {
  const command = branch(group.split(' ').at(-1)!, about)
  for (const one of commands)
    command.addCommand(
      chosen === ALL || one.name === chosen
        ? operationCommand(one, ground)
        : new Command(one.name).summary(firstSentence(one.operation)),
    )
  for (const own of ownCommandsIn(group, ground)) command.addCommand(own)
  return command
}

/** The command that a group belongs to: the program, or the command of its area. */
const above = (group: CommandGroup, program: Command, ground: Ground): Command => {
  const [area = ''] = group.name.split(' ')
  const about = areas.get(area)
  if (about === undefined) return program
  const before = program.commands.find((command) => command.name() === area)
  if (before) return before
  const command = branch(area, about)
  for (const own of ownCommandsIn(area, ground)) command.addCommand(own)
  program.addCommand(command)
  return command
}

const programOf = (chosen: readonly string[] | typeof ALL, setting: Setting): Command => {
  const program = withCommon(new Command('tendril')).helpCommand(false).enablePositionalOptions()
  program
    .description('Tendril on the command line: one command per API operation.')
    .version(`tendril ${version}`, '--version')
  program.commandsGroup('Operations:')
  for (const group of groups) {
    const words = group.name.split(' ')
    const isChosen = chosen === ALL || words.every((word, at) => word === chosen[at])
    const command = isChosen
      ? groupCommand(group, chosen === ALL ? ALL : chosen[words.length], setting)
      : new Command(words.at(-1)).description(group.about)
    above(group, program, setting).addCommand(command)
  }
  program.commandsGroup('This program:')
  for (const command of ownCommands(setting)) program.addCommand(command)
  for (const [name, about] of serverCommands)
    if (setting.server.includes(name))
      program.addCommand(new Command(name).description(about).helpCommand(false))
  program.addHelpText(
    'after',
    `\nRun tendril help to list all commands, or tendril <group> <command> --help for one.\n${ENVIRONMENT}`,
  )
  return program
}

/**
 * A program that can parse these arguments. It knows other commands only by name, for help and
 * suggestions.
 */
export const programFor = (argv: readonly string[], setting: Setting): Command => {
  const words = wordsIn(argv)
  const command = commandAt(words)
  const isPlain =
    command && `${command.group} ${command.name}`.split(' ').every((word, at) => word === argv[at])
  return isPlain ? shortest(command, setting) : programOf(words, setting)
}

/** For valid words, builds only the path to their command. */
const shortest = (command: NamedCommand, setting: Setting): Command => {
  const program = new Command('tendril').helpCommand(false).enablePositionalOptions()
  const group = { ...groups.find(({ name }) => name === command.group)!, commands: [command] }
  above(group, program, setting).addCommand(groupCommand(group, ALL, setting))
  return program
}

/** Builds every command in full. */
export const wholeProgram = (setting: Setting): Command => programOf(ALL, setting)
