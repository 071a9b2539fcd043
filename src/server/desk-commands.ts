/**
 * Parses lines of a conversation by the grammar of the command line. Only the line itself is read,
 * no file and no input.
 */
import { CommanderError } from 'commander'
import { inputFrom, nothingToRead, parsedArguments } from '#cli/argv'
import { commandAt, groups, type NamedCommand } from '#cli/catalogue'
import { EXAMPLE_ID, examplesOf } from '#cli/example'
import { Failure, misuse, misuseOf } from '#cli/failure'
import { fieldsOf } from '#cli/fields'
import { splitLine } from '#cli/line'
import { kebab } from '#cli/names'
import { suggestionFor } from '#cli/stubs'
import { firstSentence, optionKey, syntaxOf } from '#cli/syntax'
import { capabilities } from '#contract/index'
import { isAgentTool, type NamedOp, pathParams } from '#contract/op'
import type { Parse, Understood } from '#port/model/desk/command'

type Input = Record<string, unknown>

/**
 * On the command line, capabilities have no command. Here, their names are their commands:
 * `/remember --text …`.
 */
const namedCapabilities: NamedCommand[] = capabilities
  .filter((operation) => isAgentTool(operation))
  .map((operation) => ({ group: '', name: operation.tool!, operation }))

const capabilityAt = ([word = '']: readonly string[]): NamedCommand | undefined =>
  namedCapabilities.find(({ name }) => name === word || kebab(name) === word)

/** The commands that the agent has as tools. */
export const deskCommands: NamedCommand[] = [
  ...groups.flatMap((group) => group.commands).filter(({ operation }) => isAgentTool(operation)),
  ...namedCapabilities,
]

const wordsOfCommand = ({ group, name }: NamedCommand): string[] =>
  `${group} ${name}`.trim().split(' ')

export const wordsFor = (command: NamedCommand): string => `/${wordsOfCommand(command).join(' ')}`

/**
 * Examples of a command as a person could write it. The first record of a list stands for any
 * record.
 */
export const examplesFor = (command: NamedCommand): string[] =>
  examplesOf(command.operation).map((example) =>
    `${wordsFor(command)} ${example}`.trimEnd().replaceAll(EXAMPLE_ID, '1'),
  )

/** Removed, because nothing is read here. */
const FROM_FILE = / ?\(accepts - and @file\)|; accepts - and @file/

const help = (command: NamedCommand): string => {
  const { operation } = command
  const fields = fieldsOf(operation).map(optionKey)
  const options = syntaxOf(operation).options.filter((option) =>
    fields.includes(option.attributeName()),
  )
  return [
    `${wordsFor(command)}${pathParams(operation.path)
      .map((name) => ` <${kebab(name)}>`)
      .join('')}: ${operation.summary}`,
    ...options.map(({ flags, description }) =>
      `  ${flags}  ${description.replace(FROM_FILE, '')}`.trimEnd(),
    ),
    'Examples:',
    ...examplesFor(command).map((example) => `  ${example}`),
  ].join('\n')
}

const listing = (group: string): string =>
  deskCommands
    .filter((command) => group === '' || command.group === group)
    .map((command) => `${wordsFor(command)}: ${firstSentence(command.operation)}`)
    .join('\n')

const helpFor = (words: readonly string[]): string => {
  const command = commandAt(words) ?? capabilityAt(words)
  if (command && isAgentTool(command.operation)) return help(command)
  return listing(words.join(' ')) || listing('')
}

/** Other options, such as --api-key and --wait, concern the program that runs the command. */
const isInput = (o: NamedOp, key: string): boolean =>
  key === 'data' || fieldsOf(o).some((field) => optionKey(field) === key)

/** An id, a handle, or a position in the list shown last. */
const REFERENCE = /^(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[a-z][a-z_-]*:\d{1,9}|\d{1,9})$/i

const checkReferences = (o: NamedOp, input: Input): void => {
  for (const [name, value] of Object.entries(input))
    if (o.input.properties[name]?.format === 'uuid' && !REFERENCE.test(String(value)))
      misuse(
        `${String(value)} is no record: write an id, a handle such as item:3, or a position in the list shown last`,
      )
}

const inputOf = async (o: NamedOp, argv: readonly string[]): Promise<Input> => {
  const parsed = parsedArguments(o, argv)
  const other = syntaxOf(o).options.find(
    (option) => option.attributeName() in parsed.options && !isInput(o, option.attributeName()),
  )
  if (other) misuse(`${other.long} works on the command line only`)
  const input = await inputFrom(o, parsed, nothingToRead)
  checkReferences(o, input)
  return input
}

const sayFailure = ({ message, hint }: Failure): string =>
  hint === undefined ? message : `${message}\n${hint}`

const failureOf = (cause: unknown): Failure => {
  if (cause instanceof CommanderError) return misuseOf(cause)
  if (cause instanceof Failure) return cause
  throw cause
}

const asksForHelp = (argv: readonly string[]): boolean =>
  argv
    .slice(0, argv.includes('--') ? argv.indexOf('--') : undefined)
    .some((word) => word === '--help' || word === '-h')

const call = async (command: NamedCommand, argv: readonly string[]): Promise<Understood> => {
  const { operation: o } = command
  if (!isAgentTool(o))
    return { error: `tendril ${command.group} ${command.name} works on the command line only.` }
  return asksForHelp(argv)
    ? { error: help(command) }
    : { tool: o.tool!, args: await inputOf(o, argv) }
}

/** In words: `agent jobs cancel` has three. */
const LONGEST_NAME = 3

const read = async (line: string, isMarked: boolean): Promise<Understood | undefined> => {
  const words = isMarked ? splitLine(line) : line.split(/\s+/)
  // Phones begin a line with a capital letter.
  const named = words.slice(0, LONGEST_NAME).map((word) => word.toLowerCase())
  const command = commandAt(named) ?? (isMarked ? capabilityAt(named) : undefined)
  if (command) return call(command, splitLine(line).slice(wordsOfCommand(command).length))
  if (!isMarked) return undefined
  return {
    error:
      words.length === 0 || words[0] === 'help'
        ? helpFor(words.slice(1))
        : sayFailure(suggestionFor(words, deskCommands)),
  }
}

/**
 * A line that begins with `/` or `tendril` is a command, right or wrong. Any other line is one if
 * it begins with the two words of a command. The single word of a capability does not count,
 * because sentences begin with such words too.
 */
export const parseDeskLine: Parse = async (line) => {
  const [mark = ''] = /^(?:\/|tendril(?=\s|$))\s*/i.exec(line) ?? []
  try {
    return await read(line.slice(mark.length), mark !== '')
  } catch (cause) {
    return { error: sayFailure(failureOf(cause)) }
  }
}
