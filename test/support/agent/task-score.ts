/**
 * Measures a task's rules on the texts of test/data/tasks, for which a person has written down the
 * action items and labels.
 */
import { readFileSync } from 'node:fs'
import { actionItemsIn } from '#domain/agent/job/tasks/action-items'
import { classified } from '#domain/agent/job/tasks/classify'
import type { ActionItem, Label } from '#domain/agent/job/tasks/forms'

interface Sample {
  id: string
  language: 'en' | 'de'
  label: string
  text: string
  items: ActionItem[]
}

const { labels, texts } = JSON.parse(readFileSync('test/data/tasks/texts.json', 'utf8')) as {
  labels: Record<Sample['language'], Label[]>
  texts: Sample[]
}

const wordsOf = (text: string): Set<string> =>
  new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [])

const ENOUGH = 0.5

/** Whether two texts say the same: they share at least half of all words that either has. */
const isSame = (a: string, b: string): boolean => {
  const [one, other] = [wordsOf(a), wordsOf(b)]
  const common = [...one].filter((word) => other.has(word)).length
  return common / (one.size + other.size - common) >= ENOUGH
}

const alike = (a: string | null, b: string | null): boolean => a?.toLowerCase() === b?.toLowerCase()

export interface Score {
  texts: number
  /** Counts of action items: those in the texts, those that were found, and those that are both. */
  known: number
  found: number
  right: number
  /** Of those that are both: how many have the right owner, and the right date. */
  owners: number
  dates: number
  /** Counts of texts: with the right label, with none, and with a wrong one. */
  labelled: number
  unlabelled: number
  mislabelled: number
}

const zero: Score = {
  texts: 0,
  known: 0,
  found: 0,
  right: 0,
  owners: 0,
  dates: 0,
  labelled: 0,
  unlabelled: 0,
  mislabelled: 0,
}

const scoreOf = ({ language, text, items, label }: Sample): Score => {
  const found = actionItemsIn(text)
  const matched = items.flatMap((known) => {
    const match = found.find((one) => isSame(one.text, known.text))
    return match ? [{ known, match }] : []
  })
  const given = classified(text, labels[language])
  return {
    texts: 1,
    known: items.length,
    found: found.length,
    right: matched.length,
    owners: matched.filter(({ known, match }) => alike(known.owner, match.owner)).length,
    dates: matched.filter(({ known, match }) => alike(known.due, match.due)).length,
    labelled: Number(given === label),
    unlabelled: Number(given === undefined),
    mislabelled: Number(given !== undefined && given !== label),
  }
}

const added = (a: Score, b: Score): Score =>
  Object.fromEntries(
    Object.entries(a).map(([key, value]) => [key, value + b[key as keyof Score]]),
  ) as unknown as Score

/** For one language, or for all texts. */
export const taskScore = (language?: Sample['language']): Score =>
  texts
    .filter((one) => language === undefined || one.language === language)
    .map(scoreOf)
    .reduce(added, zero)
