/** Text for terminals: how wide it is, how it is cut, and nothing in it that a terminal would obey. */

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/** Posts come from anywhere: an escape sequence in one must not move the cursor, nor a mark turn the line around. */
export const harmless = (text: string): string => text.replaceAll('\r\n', '\n').replaceAll(CONTROL, '\ufffd')

/** The same for JSON, which stays what it is. */
export const escaped = (json: string): string => json.replaceAll(CONTROL, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`)

export const oneLine = (text: string): string =>
  harmless(text)
    .replaceAll(/\s*\n\s*/g, ' ⏎ ')
    .replaceAll('\t', ' ')

const WIDE =
  /\p{Emoji_Presentation}|\ufe0f|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[\u{1b000}-\u{1b2ff}\u{20000}-\u{3fffd}]/u
const INVISIBLE = /^[\p{Mn}\p{Me}\p{Cf}]+$/u
const PRINTABLE_ASCII = /^[\x20-\x7e]*$/

let segmenter: Intl.Segmenter | undefined

/** Made when first needed: that takes as long as all else of a start. */
const segmentsOf = (text: string): Iterable<{ segment: string }> => {
  segmenter ??= new Intl.Segmenter()
  return segmenter.segment(text)
}

const widthOfOne = (segment: string): number => {
  if (INVISIBLE.test(segment)) return 0
  return WIDE.test(segment) ? 2 : 1
}

/** Columns that a terminal gives it. */
export const widthOf = (text: string): number => {
  if (PRINTABLE_ASCII.test(text)) return text.length
  let width = 0
  for (const { segment } of segmentsOf(text)) width += widthOfOne(segment)
  return width
}

/** At most `width` columns, with … where something was cut off. */
export const cut = (text: string, width: number): string => {
  if (widthOf(text) <= width) return text
  let kept = ''
  let used = 0
  for (const { segment } of segmentsOf(text)) {
    used += widthOfOne(segment)
    if (used > width - 1) break
    kept += segment
  }
  return `${kept}…`
}

export const padded = (text: string, width: number): string => text + ' '.repeat(Math.max(0, width - widthOf(text)))
