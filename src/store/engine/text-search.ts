/** Postgres's full text search in the language of a workspace. */
import type { Fragment, Sql } from './db.ts'

/** The languages for which every supported Postgres has a configuration, by their tags. */
const CONFIGURATIONS: Record<string, string> = {
  ar: 'arabic',
  hy: 'armenian',
  eu: 'basque',
  ca: 'catalan',
  da: 'danish',
  nl: 'dutch',
  en: 'english',
  fi: 'finnish',
  fr: 'french',
  de: 'german',
  el: 'greek',
  hi: 'hindi',
  hu: 'hungarian',
  id: 'indonesian',
  ga: 'irish',
  it: 'italian',
  lt: 'lithuanian',
  ne: 'nepali',
  nb: 'norwegian',
  nn: 'norwegian',
  no: 'norwegian',
  pt: 'portuguese',
  ro: 'romanian',
  ru: 'russian',
  sr: 'serbian',
  es: 'spanish',
  sv: 'swedish',
  ta: 'tamil',
  tr: 'turkish',
  yi: 'yiddish',
}

/**
 * The configuration for a BCP 47 tag; `simple`, which knows words but no endings, for other
 * languages.
 */
export const searchConfiguration = (language: string): string =>
  CONFIGURATIONS[language.toLowerCase().split('-')[0]!] ?? 'simple'

/**
 * How many words of a query are used. The time that it takes to rank and mark a text grows with
 * them.
 */
const MOST_WORDS = 100

/**
 * A query for text that contains any of the first hundred distinct words. It matches nothing if
 * there are none. `configuration`: an expression of type text. A word that is repeated a thousand
 * times counts once, because Postgres marks a text in time that grows with the square of the
 * repetitions.
 */
export const anyWord = (sql: Sql, configuration: Fragment, text: string): Fragment =>
  // The text form of a vector quotes each word, and no word contains a space.
  sql`replace(array_to_tsvector(array(select w.lexeme from
    unnest(to_tsvector(${configuration}::regconfig, ${text})) w
    order by w.positions[1], w.lexeme limit ${MOST_WORDS}))::text, ' ', '|')::tsquery`
