/** Postgres's full text search in the language of a workspace. */
import type { Fragment, Sql } from './db.ts'

/** The languages for which every supported Postgres has a configuration, by their tags. */
const CONFIGURATIONS: Record<string, string> = {
  ...{ ar: 'arabic', hy: 'armenian', eu: 'basque', ca: 'catalan', da: 'danish', nl: 'dutch', en: 'english', fi: 'finnish', fr: 'french' },
  ...{ de: 'german', el: 'greek', hi: 'hindi', hu: 'hungarian', id: 'indonesian', ga: 'irish', it: 'italian', lt: 'lithuanian' },
  ...{ ne: 'nepali', nb: 'norwegian', nn: 'norwegian', no: 'norwegian', pt: 'portuguese', ro: 'romanian', ru: 'russian', sr: 'serbian' },
  ...{ es: 'spanish', sv: 'swedish', ta: 'tamil', tr: 'turkish', yi: 'yiddish' },
}

/** The configuration for a BCP 47 tag; `simple`, which knows words but no endings, for other languages. */
export const searchConfiguration = (language: string): string => CONFIGURATIONS[language.toLowerCase().split('-')[0]!] ?? 'simple'

/** A query for text that has any of the words; it matches nothing if there are none. `configuration`: an expression of type text. */
export const anyWord = (sql: Sql, configuration: Fragment, text: string): Fragment =>
  // Its own text quotes each word, so that only the operators between them are replaced.
  sql`replace(plainto_tsquery(${configuration}::regconfig, ${text})::text, '&', '|')::tsquery`
