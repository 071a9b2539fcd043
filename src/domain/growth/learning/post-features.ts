/**
 * Features of a post that are known before anybody reads it: the dimensions by which an audit
 * compares posts.
 */
import { hourAt, weekdayAt } from '#kernel/calendar'
import type { Feature } from './statistics.ts'

export interface PostFacts {
  text: string
  /** Empty if unknown. */
  hook: string
  format: string
  /** Ids of the learnings it was drafted with. */
  learnings: string[]
  posted_at: Date | null
}

interface Setting {
  timeZone: string
  /** Includes archived products. */
  products: string[]
}

/** In characters: short is below the first, long above the second. */
const SHORT = 140
const LONG = 240

/** Matches a host only at its beginning: starting at every label would take quadratic time. */
const LINK = /https?:\/\/\S+|(?<![\w-]|[\w-]\.)(?:[a-z0-9-]+\.)+(?:com|org|net|io|dev|app|co)\b/i
const EMOJI = /\p{Extended_Pictographic}/u
const LIST_LINE = /^[^\S\n]*(?:[-•*→–]|\d+[.)])\s+\S/gm

/** Whether lines of the text are laid out as a list. */
export const isList = (text: string): boolean => (text.match(LIST_LINE) ?? []).length >= 2

const lengthOf = (text: string): string => {
  if (text.length < SHORT) return 'short'
  return text.length > LONG ? 'long' : 'medium'
}

/** Digits in URLs and list markers do not count. */
const hasNumber = (text: string): boolean =>
  /\d/.test(text.replace(new RegExp(LINK, 'gi'), ' ').replace(/^[^\S\n]*\d+[.)]\s/gm, ' '))

const parts = [
  [5, 'night'],
  [11, 'morning'],
  [15, 'midday'],
  [19, 'afternoon'],
  [24, 'evening'],
] as const

const weekdays = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']

const clocks = (at: Date, timeZone: string): Feature[] => {
  const hour = hourAt(at, timeZone)
  return [
    { dimension: 'weekday', value: weekdays[weekdayAt(at, timeZone) - 1]! },
    { dimension: 'hour', value: parts.find(([until]) => hour < until)![1] },
  ]
}

const mentions = (text: string, product: string): boolean =>
  text.toLowerCase().includes(product.toLowerCase())

/** Each feature at most once; those that drafting can follow come first. */
export const featuresOf = (
  { text, hook, format, learnings, posted_at }: PostFacts,
  { timeZone, products }: Setting,
): Feature[] => {
  const yes = (dimension: string, has: boolean): Feature[] =>
    has ? [{ dimension, value: 'yes' }] : []
  return [
    ...yes('number', hasNumber(text)),
    ...yes('question', text.includes('?')),
    ...yes('list', isList(text)),
    { dimension: 'length', value: lengthOf(text) },
    ...products
      .filter((product) => mentions(text, product))
      .map((value) => ({ dimension: 'product', value })),
    ...(format ? [{ dimension: 'format', value: format }] : []),
    ...(hook && hook !== 'none' ? [{ dimension: 'hook', value: hook }] : []),
    ...yes('link', LINK.test(text)),
    ...yes('emoji', EMOJI.test(text)),
    ...[...new Set(learnings)].map((value) => ({ dimension: 'learning', value })),
    ...(posted_at ? clocks(posted_at, timeZone) : []),
  ]
}
