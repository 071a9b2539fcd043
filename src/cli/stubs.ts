/** What is wrong with words that are not a command, in the terms of the command line. */
import { Command } from 'commander'
import type { NamedCommand } from './catalogue.ts'
import { type Failure, misuseOf } from './failure.ts'

const silent = { outputError: () => {}, writeOut: () => {}, writeErr: () => {} }

const below = (parent: Command, name: string): Command =>
  parent.commands.find((one) => one.name() === name) ??
  parent.command(name).helpCommand(false).exitOverride().configureOutput(silent)

/** The commands, only by name. */
const treeOf = (commands: readonly NamedCommand[]): Command => {
  const program = new Command('tendril').helpCommand(false).exitOverride().configureOutput(silent)
  for (const { group, name } of commands)
    `${group} ${name}`.trim().split(' ').reduce(below, program)
  return program
}

const namesBelow = (program: Command, words: readonly string[]): string[] => {
  const found = words.reduce<Command | undefined>(
    (parent, word) => parent?.commands.find((one) => one.name() === word),
    program,
  )
  return found?.commands.map((one) => one.name()) ?? []
}

/** For words that `commandAt` does not find. */
export const suggestionFor = (
  words: readonly string[],
  commands: readonly NamedCommand[],
): Failure => {
  const program = treeOf(commands)
  const next = namesBelow(program, words)
  if (next.length > 0)
    return misuseOf({
      message: `${words.join(' ')} is incomplete\n(Go on with ${next.join(', ')}.)`,
    })
  try {
    program.parse([...words], { from: 'user' })
  } catch (cause) {
    return misuseOf(cause as Error)
  }
  return misuseOf({ message: `unknown command '${words.join(' ')}'` })
}
