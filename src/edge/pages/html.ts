/** HTML templates that escape their values and show characters that would be invisible. */
import { codesOf, replaceUnseen } from '#kernel/unseen'

const MARKUP = Symbol('markup')
const UNSEEN = Symbol('unseen')

/** Only `html` makes it. */
export interface Html {
  readonly [MARKUP]: string
  /** How many characters it shows as codes because they would be invisible. */
  readonly [UNSEEN]: number
}

type Value = Html | string | number | undefined | readonly Html[]

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

const SPECIAL = /[&<>"']/

/** Most parts between codes need no escaping, and a text can have tens of thousands of parts. */
const escapeHtml = (text: string): string =>
  SPECIAL.test(text) ? text.replace(/[&<>"']/g, (character) => ENTITIES[character]!) : text

/**
 * Where a value is placed. `text`: among elements. `line`: where no element can be, for example in
 * a title. `value`: in an attribute or a text area, whose content is sent back and so must stay
 * unchanged.
 */
type Place = 'text' | 'line' | 'value'

const IN_VALUE = /="[^"]*$|<textarea\b[^>]*>[^<]*$/
const IN_LINE = /<(?:title|option)\b[^>]*>[^<]*$/

const known = new WeakMap<TemplateStringsArray, Place[]>()

/** The places of a template's values, determined by what is written before each. */
const placesOf = (parts: TemplateStringsArray): Place[] => {
  const places =
    known.get(parts) ??
    parts.map((_, index): Place => {
      const written = parts.slice(0, index + 1).join('\0')
      if (IN_VALUE.test(written)) return 'value'
      return IN_LINE.test(written) ? 'line' : 'text'
    })
  known.set(parts, places)
  return places
}

const markup = (text: string, unseen = 0): Html => ({ [MARKUP]: text, [UNSEEN]: unseen })

const showText = (text: string, place: Place): Html => {
  if (place === 'value') return markup(escapeHtml(text))
  let unseen = 0
  const marked = (run: string): string => {
    for (const _ of run) unseen++
    return place === 'line' ? codesOf(run) : `<mark>${codesOf(run)}</mark>`
  }
  return markup(replaceUnseen(text, marked, escapeHtml), unseen)
}

const joinHtml = (all: readonly Html[]): Html =>
  markup(
    all.map((one) => one[MARKUP]).join(''),
    all.reduce((sum, one) => sum + one[UNSEEN], 0),
  )

const htmlOf = (value: Value, place: Place): Html => {
  if (value === undefined) return markup('')
  if (typeof value !== 'object') return showText(String(value), place)
  return MARKUP in value ? value : joinHtml(value)
}

/**
 * A template. Escapes values, for text and for attributes in double quotes; `undefined` becomes
 * nothing.
 */
export const html = (parts: TemplateStringsArray, ...values: Value[]): Html => {
  const places = placesOf(parts)
  return joinHtml(
    parts.flatMap((part, index) => [
      markup(part),
      ...(index in values ? [htmlOf(values[index], places[index]!)] : []),
    ]),
  )
}

/** The finished page as text. */
export const markupOf = (page: Html): string => page[MARKUP]

/** How many characters it shows as codes. */
export const countUnseen = (page: Html): number => page[UNSEEN]
