/**
 * Chooses the label whose name, description and examples share the most words with a text. English
 * and German.
 */
import { normalForm } from '#kernel/normal-form'
import type { Label } from './forms.ts'

const COMMON = new Set(
  `a about after all also am an and any are as at be been before but by can could did do does for from had has have he her here him his
  how i if in into is it its just me more my no not now of on or our out over please she so some somebody something than that the their
  them then there these they this those to too up us was we were what when where which who why will with would you your
  ab aber alle als am an auch auf aus bei bin bis bitte da das dass dem den der des die dies diese dieser doch du ein eine einem einen
  einer eines er es etwas für hat habe haben hier ich ihr ihre ihnen im in ist ja jemand kann kein keine mal mehr mein meine mich mir mit
  nach nicht noch nur oder ohne schon sehr sein sich sie sind so über um und uns unser unsere vom von vor war was wenn wer wie wir wird
  wo wurde zu zum zur`.split(/\s+/),
)

const ENDINGS =
  /(?:ungen|ungs?|ings?|ments?|ation|ions?|ern|ens?|ers?|ies|ied|est|es|ed|em|ly|s|e|n|y)$/u
const LEAST_STEM = 4

/** A word without the ending that differs between its forms. */
const stemOf = (word: string): string => {
  const single = word.replace(/(?<=\p{L}{3})s$/u, '')
  const stem = single.replace(ENDINGS, '')
  return stem.length >= LEAST_STEM ? stem : single
}

const stemsIn = (text: string): string[] =>
  (normalForm(text.toLowerCase(), 'NFC').match(/\p{L}[\p{L}'’]+/gu) ?? [])
    .filter((word) => word.length > 2 && !COMMON.has(word))
    .map(stemOf)

/** The name counts more than the description, and the description more than an example. */
const WEIGHTS = { name: 3, description: 2, examples: 1 }

const weightsOf = ({ name, description = '', examples = [] }: Label): Map<string, number> => {
  const weights = new Map<string, number>()
  const add = (text: string, weight: number) => {
    for (const stem of stemsIn(text)) weights.set(stem, Math.max(weight, weights.get(stem) ?? 0))
  }
  for (const example of examples) add(example, WEIGHTS.examples)
  add(description, WEIGHTS.description)
  add(name, WEIGHTS.name)
  return weights
}

/** The label with the most evidence, the first of equals; undefined if no label has any. */
export const classified = (text: string, labels: readonly Label[]): string | undefined => {
  const weights = labels.map(weightsOf)
  const stems = new Set(stemsIn(text))
  const scores = weights.map((own) => {
    let score = 0
    for (const stem of stems) {
      const weight = own.get(stem)
      // A word that several labels have distinguishes them less.
      if (weight !== undefined) score += weight / weights.filter((other) => other.has(stem)).length
    }
    return score
  })
  const best = Math.max(...scores)
  return best > 0 ? labels[scores.indexOf(best)]!.name : undefined
}
