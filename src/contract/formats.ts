/** The formats that schemas name, registered with TypeBox. */
import { FormatRegistry } from '@sinclair/typebox'
import { normalForm } from '#kernel/normal-form'
import { isInvisible, isLonger, strangeCharacter } from '#kernel/plain-text'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const DATE_TIME =
  /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])[Tt]([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,9})?)?([Zz]|[+-]([01]\d|2[0-3]):?[0-5]\d)$/

/** Whether a text is a date and time. Refuses dates that do not exist, such as 30 February. */
export const isDateTime = (text: string): boolean => {
  if (!DATE_TIME.test(text)) return false
  const [year, month, day] = text.slice(0, 10).split('-').map(Number)
  return day! <= new Date(Date.UTC(year!, month!, 0)).getUTCDate()
}

/** Caches positive results of a costly check, up to a bound, because the same few names recur. */
const cacheAnswers = (check: (text: string) => boolean): ((text: string) => boolean) => {
  const known = new Map<string, boolean>()
  return (text) => {
    const before = known.get(text)
    if (before !== undefined) return before
    const answer = check(text)
    if (answer && known.size < MAX_REMEMBERED) known.set(text, answer)
    return answer
  }
}
const MAX_REMEMBERED = 1_000

const isTimeZone = cacheAnswers((text) => {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }) !== undefined && !/^[+-]/.test(text)
  } catch {
    return false
  }
})

const isLanguage = cacheAnswers((text) => {
  try {
    return Intl.getCanonicalLocales(text).length === 1
  } catch {
    return false
  }
})

/** Narrower than what mail servers accept, but it fits the addresses that people have. */
const EMAIL = /^[^\s@"(),:;<>[\]\\]{1,64}@[^\s@"(),:;<>[\]\\.]+(\.[^\s@"(),:;<>[\]\\.]+)*$/

const isHttpUrl = (text: string): boolean => {
  if (!/^https?:\/\/[^\s]+$/i.test(text)) return false
  return URL.canParse(text)
}

FormatRegistry.Set('uuid', (text) => UUID.test(text))
FormatRegistry.Set('date-time', isDateTime)
FormatRegistry.Set('time-zone', isTimeZone)
FormatRegistry.Set('language', isLanguage)
FormatRegistry.Set('uri', isHttpUrl)
/** In characters, after NFKC normalisation. */
export const NAME_LIMIT = 160
export const EMAIL_LIMIT = 254
FormatRegistry.Set(
  'email',
  (text) =>
    EMAIL.test(normalForm(text, 'NFKC')) &&
    strangeCharacter(text) === undefined &&
    !isLonger(text, EMAIL_LIMIT),
)
FormatRegistry.Set(
  'name',
  (text) =>
    strangeCharacter(text) === undefined && !isInvisible(text) && !isLonger(text, NAME_LIMIT),
)
/** Names that no file system takes for a path, and that nobody mistakes for another name. */
FormatRegistry.Set(
  'file-name',
  (text) =>
    !/[/\\]/.test(text) &&
    !/^\.{1,2}$/.test(text) &&
    /\S/.test(text) &&
    strangeCharacter(text) === undefined &&
    !isInvisible(text),
)
/**
 * The form that the names of all tools have. Tools of MCP servers end with their server's own name
 * for them.
 */
FormatRegistry.Set('tool-name', (text) => /^[a-z][a-zA-Z0-9_-]{0,63}$/.test(text))
/** The name of a tool, optionally with a host that fetch_url may read. */
FormatRegistry.Set('tool-rule', (text) =>
  /^[a-z][a-zA-Z0-9_-]{0,63}(:[a-z0-9.:[\]-]{1,260})?$/.test(text),
)
FormatRegistry.Set('clock-time', (text) => /^([01]\d|2[0-3]):[0-5]\d$/.test(text))
