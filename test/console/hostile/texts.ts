/** The worst texts that people, programs and networks can write. Each says which field it is in. */

/** `long`: all that is too much. `blank`: nothing that anybody could see. */
export const rounds = ['long', 'blank'] as const
export type Round = (typeof rounds)[number]

const TAG = '<img src=x onerror=ran()>'
const MARKUP = `${TAG}<script>ran()</script>"'><svg onload=ran()>javascript:ran()`
/** Turns what follows around, and is never ended. */
const TURNED = '\u202egnp.exe \u2067\u2066'
const MARKS = '\u0351\u036b\u0343\u036a\u0302'
const STACKED = `Z${MARKS}`
/** Where a font lacks the marks, they stand side by side, and the letter takes no break. */
const TOWER = `Z${MARKS.repeat(2)}`
const EMOJI = '👩‍👩‍👧‍👦🏴󠁧󠁢󠁥󠁮󠁧󠁿👍🏿'
const UNSEEN = '\u200b\u200d\u2060\ufeff\u00ad'
const HEBREW = 'שלום'
const LINES = [`\t${TOWER} ${EMOJI}`, '', `${UNSEEN.repeat(3)}${TURNED}`, `${HEBREW} 1, 2: x`]

/** Stands where the text of the field ends: whoever sees it can read all of it. */
const endOf = (field: string): string => `[${field}.]`

interface Size {
  /** Of one word. */
  letters: number
  lines: number
}

const LONGEST: Size = { letters: 10_000, lines: 40 }
/** Short enough for a network. */
export const SHORT: Size = { letters: 40, lines: 0 }

export const hostileText = (
  round: Round,
  field: string,
  { letters, lines }: Size = LONGEST,
): string => {
  if (round === 'blank') return lines === 0 ? `.${UNSEEN}` : UNSEEN
  return [
    `[${field}] ${MARKUP} ${TURNED} ${STACKED}${EMOJI}`,
    ...Array.from({ length: lines }, (_, at) => LINES[at % LINES.length]),
    `${'W'.repeat(letters)} ${endOf(field)}`,
  ].join('\n')
}

/** Few words, as a search takes them. */
export const hostileWords = (round: Round): string =>
  round === 'blank' ? '' : `<script>ran()</script> ${TURNED} ${STACKED} ${'W'.repeat(1_000)}`

const NAME_LENGTH = 160

/** As hostile as a name may be: operations refuse marks that turn text around in one. */
export const hostileName = (round: Round, field: string): string => {
  if (round === 'blank') return '.'
  const [first, last] = [`[${field}] ${TAG} ${HEBREW}${STACKED} `, ` ${endOf(field)}`]
  return `${first}${'W'.repeat(NAME_LENGTH - first.length - last.length)}${last}`
}

/** An address that a link may be made of: of a script, and one that is too long. */
export const hostileAddress = (round: Round, field: string): string =>
  round === 'long'
    ? `javascript:ran()//[${field}]`
    : `https://${'w'.repeat(63)}.example/${'w'.repeat(1_000)}`

/** What only a hostile text holds, however much of it is left. */
export const isHostile = (text: string): boolean => /ran\(|\[\w+\.\w+|WWWW|wwww/.test(text)
