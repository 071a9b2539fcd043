/** What a command of operators is: its words, its flags, and what it does. */
import type { AdminContext, Flags } from './flags.ts'

/** A flag of a command, as its help shows it. */
interface FlagForm {
  /** What stands for its value; absent for a switch. */
  value?: string
  required?: true
  /** It can be given several times. */
  many?: true
}

export const required = (value: string): FlagForm => ({ value, required: true })
export const optional = (value: string): FlagForm => ({ value })
export const repeated = (value: string): FlagForm => ({ value, many: true })
export const toggle: FlagForm = {}
/** Without it, the command could mean less than it does. */
export const requiredToggle: FlagForm = { required: true }

/** Of commands that print a page of a list. */
export const paging = { limit: optional('N'), cursor: optional('CURSOR') }

/** Names a workspace. */
export const ofWorkspace = { workspace: required('ID') }

export interface AdminCommand {
  /** One line, in the imperative and without a full stop. */
  about: string
  flags?: Readonly<Record<string, FlagForm>>
  /** The words that follow the command, all of them required: `FROM`. */
  operands?: readonly string[]
  /**
   * Reads its flags first, so that wrong ones are refused before anything is opened. Returns
   * undefined if it has written to standard output itself.
   */
  run(
    place: AdminContext,
    flags: Flags,
    operands: readonly string[],
  ): Promise<object | Incomplete | undefined>
}

/** What a command prints that could not do all that it should. Its exit code is 1. */
export class Incomplete {
  constructor(
    readonly answer: object,
    /** What is missing. */
    readonly message: string,
  ) {}
}

export interface AdminGroup {
  name: string
  /** A few words: what its commands are about. */
  about: string
  /** By the word after the name of the group; the one of '' is the name alone. */
  commands: Readonly<Record<string, AdminCommand>>
}

/** A command with all its words: `tenant list`. */
export interface WordedCommand extends AdminCommand {
  words: string
}

export const commandsOf = ({ name, commands }: AdminGroup): WordedCommand[] =>
  Object.entries(commands).map(([word, command]) => ({
    ...command,
    words: word === '' ? name : `${name} ${word}`,
  }))

const flagUsage = ([name, { value, required: isRequired, many }]: [string, FlagForm]): string => {
  const flag = `--${name}${value === undefined ? '' : ` ${value}`}`
  return isRequired ? flag : `[${flag}${many ? ' …' : ''}]`
}

/** `tenant create --name NAME [--sandbox]` */
export const usageOf = ({ words, operands = [], flags = {} }: WordedCommand): string =>
  [words, ...operands, ...Object.entries(flags).map(flagUsage)].join(' ')
