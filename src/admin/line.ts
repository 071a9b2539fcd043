/** Reads a line of operators' commands: which command, with which flags and operands. */
import { parseArgs } from 'node:util'
import { AppError, fail } from '#kernel/errors'
import { nearest } from '#kernel/nearest'
import { type AdminCommand, commandsOf, type WordedCommand } from './command.ts'
import type { Flags } from './flags.ts'
import { adminGroups } from './groups.ts'
import type { Meant } from './help.ts'

/** Each command takes them. All that a command prints is JSON anyway. */
const common = { json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } } as const

type Options = NonNullable<NonNullable<Parameters<typeof parseArgs>[0]>['options']>

const optionsOf = ({ flags = {} }: Pick<AdminCommand, 'flags'>): Options => ({
  ...common,
  ...Object.fromEntries(
    Object.entries(flags).map(([name, { value, many }]) => [
      name,
      { type: value === undefined ? 'boolean' : 'string', multiple: many ?? false } as const,
    ]),
  ),
})

const everyCommand = (): WordedCommand[] => adminGroups.flatMap(commandsOf)

/** A flag has the same form in every command that has it, so that the words can be told from it. */
const everyOption = (): Options =>
  Object.fromEntries(everyCommand().flatMap((command) => Object.entries(optionsOf(command))))

const suggest = (name: string, known: readonly string[]): string => {
  const near = nearest(name, known)
  return near === undefined ? '' : `; did you mean ${near}?`
}

/** Throws `invalid_input` with the nearest command. */
const refuseWords = (words: readonly string[], known: readonly string[]): never =>
  fail(
    'invalid_input',
    `no such command: ${words.join(' ')}${suggest(words.join(' '), known)} (tendril admin help lists all)`,
  )

/** The group or command that words begin with, and the words left over. */
const lookUp = (words: readonly string[]): Meant & { rest: readonly string[] } => {
  const [first, second] = words
  if (first === undefined) return { rest: [] }
  const group = adminGroups.find(({ name }) => name === first)
  const all = everyCommand().map((command) => command.words)
  if (!group) return refuseWords(words.slice(0, 2), [...adminGroups.map((g) => g.name), ...all])
  const commands = commandsOf(group)
  const command = commands.find(({ words: known }) => known === `${first} ${second}`)
  if (command) return { group, command, rest: words.slice(2) }
  const itself = commands.find(({ words: known }) => known === first)
  if (itself) return { group, command: itself, rest: words.slice(1) }
  return second === undefined ? { group, rest: [] } : refuseWords([first, second], all)
}

interface Line extends Meant {
  /** Help is wanted, or the words do not name a command. */
  help: boolean
  json: boolean
  flags: Flags
  operands: readonly string[]
}

const strictly = (args: string[], command: WordedCommand): { flags: Flags } => {
  try {
    const options = optionsOf(command)
    return { flags: parseArgs({ args, options, allowPositionals: true }).values as Flags }
  } catch (cause) {
    throw new AppError(
      'invalid_input',
      cause instanceof Error ? cause.message : 'the arguments are not valid',
    )
  }
}

const requireOperands = (
  { words, operands = [] }: WordedCommand,
  given: readonly string[],
): readonly string[] => {
  const missing = operands[given.length]
  if (missing !== undefined) fail('invalid_input', `${words} needs ${missing}`)
  if (given.length > operands.length)
    fail('invalid_input', `${words} takes no ${given[operands.length]}`)
  return given
}

/** Help on a word that is a command and the name of its group is about the whole group. */
const wholly = ({ group, command }: Meant): Meant =>
  group?.name === command?.words ? { group, command: undefined } : { group, command }

/** Throws `invalid_input`, and says what was probably meant. */
export const readLine = (args: string[]): Line => {
  const { values, positionals } = parseArgs({
    args,
    options: everyOption(),
    allowPositionals: true,
    strict: false,
  })
  const isHelp = positionals[0] === 'help'
  const { group, command, rest } = lookUp(isHelp ? positionals.slice(1) : positionals)
  const meant = { group, command, json: values.json === true }
  if (isHelp || values.help || !command)
    return { ...meant, ...wholly(meant), help: true, flags: {}, operands: [] }
  const known = Object.keys(optionsOf(command))
  const stranger = Object.keys(values).find((name) => !known.includes(name))
  if (stranger !== undefined)
    fail(
      'invalid_input',
      `${command.words} has no flag --${stranger}${suggest(
        `--${stranger}`,
        known.map((name) => `--${name}`),
      )}`,
    )
  const { flags } = strictly(args, command)
  return { ...meant, help: false, flags, operands: requireOperands(command, rest) }
}
