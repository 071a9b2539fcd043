/** The help of operators' commands: of all, of a group, and of one. */
import { type AdminGroup, commandsOf, usageOf, type WordedCommand } from './command.ts'
import { adminGroups } from './groups.ts'

const describe = (command: WordedCommand): string =>
  `${command.about}:\n  tendril admin ${usageOf(command)}`

const helpOfGroup = (group: AdminGroup): string =>
  [`Operators' commands about ${group.about}. Each prints one JSON object.`]
    .concat(commandsOf(group).map(describe))
    .join('\n\n')

const WIDTH = 18

const overview = (group: AdminGroup): string =>
  [`About ${group.about}:`]
    .concat(commandsOf(group).map(({ words, about }) => `  ${words.padEnd(WIDTH)} ${about}`))
    .join('\n')

const helpOfAll = (): string =>
  [
    "Operators' commands, with or without a running server. Each prints one JSON object.",
    ...adminGroups.map(overview),
    'tendril admin help tenant shows the flags of all commands of that group.',
  ].join('\n\n')

/** What the words mean so far: nothing, a group, or a command. */
export interface Meant {
  group?: AdminGroup | undefined
  command?: WordedCommand | undefined
}

export const helpOf = ({ group, command }: Meant): string =>
  command ? describe(command) : group ? helpOfGroup(group) : helpOfAll()

/** The same for programs. */
export const helpRecords = ({ group, command }: Meant): object => {
  const commands = command ? [command] : (group ? [group] : adminGroups).flatMap(commandsOf)
  return {
    commands: commands.map((one) => ({
      command: one.words,
      about: one.about,
      usage: usageOf(one),
    })),
  }
}
