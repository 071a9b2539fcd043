/** What can follow which words, for completion. */
import type { Command, Option } from 'commander'
import { truncate } from './text.ts'

interface Flag {
  /** With dashes. */
  name: string
  about: string
  takesValue: boolean
  /** The possible values, if known. */
  choices: readonly string[]
}

/** What can follow some words. */
export interface CommandPlace {
  /** For example `items list`; empty for the program itself. */
  words: string
  children: readonly (readonly [name: string, about: string])[]
  flags: readonly Flag[]
}

const LONGEST_ABOUT = 72

const short = (text: string): string => truncate(text.replaceAll(/\s+/g, ' ').trim(), LONGEST_ABOUT)

const flagOf = ({ long, description, required, argChoices = [] }: Option): Flag => ({
  name: long ?? '',
  about: short(description),
  takesValue: required,
  choices: argChoices,
})

const HELP: Flag = { name: '--help', about: 'Show help.', takesValue: false, choices: [] }

const argumentsOf = ({ registeredArguments }: Command): readonly (readonly [string, string])[] =>
  registeredArguments.flatMap(({ argChoices = [], description }) =>
    argChoices.map((word) => [word, short(description)] as const),
  )

/** The command and all its subcommands. `words`: the path to it. */
export const placesIn = (command: Command, words: string): CommandPlace[] => {
  const children = command.commands.map(
    (child) => [child.name(), short(child.summary() || child.description())] as const,
  )
  const own = {
    words,
    children: [...children, ...argumentsOf(command)],
    flags: [...command.options.map(flagOf), HELP],
  }
  return [
    own,
    ...command.commands.flatMap((child) => placesIn(child, `${words} ${child.name()}`.trim())),
  ]
}
