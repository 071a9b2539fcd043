import type { DraftBrief, RecentPost } from '#domain/growth/drafting/draft'
import { emptyProfile, type Profile } from '#domain/growth/drafting/profile'
import { briefWith } from '#test/support/model/briefs'

/** The contract allows a hundred entries per list, of 2,000 characters each. */
const ENTRIES = 100
const LONGEST = 2_000

const WORDS = (
  'kiln glaze clay studio invoice customer onboarding ticket pipeline report harbor window market garden letter boiler winter mug ' +
  'bowl shelf radio number coffee paper ladder engine bridge candle mirror lantern'
).split(' ')

const word = (index: number): string => WORDS[index % WORDS.length] ?? ''

/** Sentences of every kind that the composer distinguishes, no two alike in the profile. */
const sentence = (entry: number, index: number): string => {
  const kinds = [
    `We lost ${entry * 37 + index} ${word(entry + index)}s in the ${word(entry * 7 + index * 3)} ${entry}.`,
    `Never ship the ${word(entry + index * 5)} before the ${word(entry + index)} ${index} holds.`,
    `The lesson: ask about the ${word(entry * 3 + index)} ${entry + index} first.`,
    `Most teams think the ${word(index * 3 + entry)} ${index} matters more than ${word(entry)}.`,
    `I used to price ${word(index)} by the ${word(entry)} ${index}.`,
    `Now every ${word(entry + 4 * index)} lands on my desk on Friday.`,
  ]
  return kinds[index % kinds.length] ?? ''
}

const filled = (piece: (index: number) => string, length = LONGEST): string => {
  let text = ''
  for (let index = 0; text.length < length; index += 1) text += piece(index)
  return text.slice(0, length).toWellFormed()
}

/** The text of an entry by its number. */
type Entry = (entry: number) => string

/** As many whole sentences as fit. */
const told: Entry = (entry) => {
  let text = sentence(entry, 0)
  for (let index = 1; text.length + sentence(entry, index).length < LONGEST; index += 1)
    text += ` ${sentence(entry, index)}`
  return text
}
const repeated =
  (unit: string): Entry =>
  (entry) =>
    filled(() => `${unit.replace('#', String(entry))}`)

const hundred = <T>(make: (entry: number) => T): T[] =>
  Array.from({ length: ENTRIES }, (_, entry) => make(entry))

type Dna = Profile['writing_dna']

/**
 * A profile with every list full: stories and proof of `material`, the other lists of words that
 * are in no story, unless given.
 */
export const fullProfile = (
  material: Entry = told,
  lists: Partial<Record<keyof Dna, Entry>> = {},
): Profile => {
  const list = (name: keyof Dna): string[] => hundred(lists[name] ?? repeated(`zq# ${name} wvx `))
  return {
    ...emptyProfile,
    goal: told(1),
    audience: 'Founders of small studios',
    voice: filled(() => 'plain and dry '),
    writing_dna: {
      voice_rules: list('voice_rules'),
      stories: hundred(material),
      proof: hundred(material),
      patterns: list('patterns'),
      use: list('use'),
      avoid: list('avoid'),
    },
  }
}

const recent = (body: Entry): RecentPost[] =>
  hundred((entry) => ({ body: body(entry), hook: entry % 2 ? 'one-line' : 'excerpt' }))

/** A brief for twenty posts of a profile with a hundred posts before. */
export const fullBrief = (changes: Partial<DraftBrief> = {}): DraftBrief =>
  briefWith({
    profile: fullProfile(),
    count: 20,
    recent: recent((entry) => `${sentence(entry, entry)} ${sentence(entry + 1, entry)}`),
    ...changes,
  })

const phrases: Entry = (entry) => `The ${word(entry)} ${entry} is a promise, not a tour.`

/** Briefs that the contract allows, each hard on a different part of the composer. */
export const hardBriefs: Readonly<Record<string, () => DraftBrief>> = {
  'as many products as there may be, in every story': () =>
    fullBrief({
      products: Array.from({ length: 25 }, (_, index) => ({
        name: word(index),
        one_liner: `the ${word(index)} ${sentence(index, 3)}`,
        url: null,
      })),
      archived: Array.from({ length: 175 }, (_, index) => `${word(index)} ${index}`),
    }),
  'every list full': () => fullBrief(),
  'a hundred phrases that are sentences': () =>
    fullBrief({ profile: fullProfile(told, { use: phrases }) }),
  'hundreds of short rules': () =>
    fullBrief({
      profile: fullProfile((entry) =>
        filled((index) => `Keep ${word(entry + index)} ${entry} dry. `),
      ),
    }),
  'sentences of two words': () =>
    fullBrief({
      profile: fullProfile(repeated('No #. '), { use: (entry) => `Ask ${entry} now.` }),
    }),
  'a letter a line': () => fullBrief({ profile: fullProfile(repeated('a#\n')) }),
  'no sentence that ends': () => fullBrief({ profile: fullProfile(repeated('really# ')) }),
  'quotes and brackets that never close': () =>
    fullBrief({ profile: fullProfile(repeated('("We saw it #. ')) }),
  'words without spaces': () =>
    fullBrief({ profile: fullProfile(repeated('我们失去了最大的客户#。')) }),
  'letters that unfold to many': () => fullBrief({ profile: fullProfile(repeated('ﷺ # ﷺ. ')) }),
  'marks without end': () => fullBrief({ profile: fullProfile(repeated('\u0301\u0323')) }),
  'phrases to avoid that almost stand there': () =>
    fullBrief({
      profile: fullProfile(repeated('a a a. '), {
        avoid: (entry) => `${'a '.repeat(400 + entry)}b`,
      }),
    }),
  'phrases to avoid that stand everywhere': () =>
    fullBrief({ profile: fullProfile(told, { avoid: word }) }),
  'rules that forbid thousands of phrases': () =>
    fullBrief({ profile: fullProfile(told, { voice_rules: repeated('never "a#" "b"') }) }),
  'rules of nothing but no': () =>
    fullBrief({ profile: fullProfile(told, { voice_rules: repeated('no not ') }) }),
  'posts of 25,000 characters before': () =>
    fullBrief({
      recent: recent((entry) => filled((index) => `${sentence(entry, index)} `, 25_000)),
    }),
  'a focus of 2,000 characters': () =>
    fullBrief({ focus: filled(() => 'We opened the kiln. "(a. ') }),
}
