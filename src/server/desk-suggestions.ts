/** Commands that share words with a text. They are shown, but never run. */
import type { NamedCommand } from '#cli/catalogue'
import { firstSentence } from '#cli/syntax'
import { deskCommands, examplesFor } from './desk-commands.ts'

const COUNT = 3

/** Words that say nothing about which command is meant. */
const EMPTY = new Set(
  'make better need just about give tell help the and for you our your with that this from what which please can could would should want have has are was not all one some any now'.split(
    ' ',
  ),
)

/** Reduces `Posting` and `posts` to `post`. */
const stem = (word: string): string => word.replace(/(?:ings?|ed|es|e|s)$/, '')

const stemsOf = (text: string): string[] =>
  [...text.toLowerCase().matchAll(/\p{L}{3,}/gu)].flatMap(([word]) =>
    EMPTY.has(word) ? [] : [stem(word)],
  )

interface Indexed {
  command: NamedCommand
  /** The word stems of its name, of its title, and of everything that describes it. */
  texts: readonly ReadonlySet<string>[]
}

const index: readonly Indexed[] = deskCommands.map((command) => {
  const { group, name, operation } = command
  const texts = [
    `${group} ${name}`.replaceAll('-', ' '),
    firstSentence(operation),
    operation.summary,
  ]
  return { command, texts: texts.map((text) => new Set(stemsOf(text))) }
})

/** A word counts once for each of these texts that has it. */
const scoreOf = ({ texts }: Indexed, stems: readonly string[]): number =>
  texts.reduce((sum, text) => sum + stems.filter((one) => text.has(one)).length, 0)

/** Commands to begin with. They follow those that fit better. */
const first = ['growth_list_queue', 'growth_create_batch', 'growth_get_brief']

export const nearestCommands = (text: string): string[] => {
  const stems = [...new Set(stemsOf(text))]
  const fitting = index
    .map((one) => ({ ...one, score: scoreOf(one, stems) }))
    .filter(({ score }) => score > 1)
    .sort((a, b) => b.score - a.score)
  const usual = index.filter(
    ({ command }) =>
      first.includes(command.operation.tool!) && !fitting.some((one) => one.command === command),
  )
  return [...fitting, ...usual].slice(0, COUNT).map(({ command }) => examplesFor(command)[0]!)
}
