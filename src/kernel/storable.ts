/** Text that Postgres can store and JSON can carry. */

/** The text without NUL characters, and with U+FFFD for unpaired surrogates. */
export const storable = (text: string): string => text.toWellFormed().replaceAll('\0', '')

const endsInHalf = (text: string): boolean => /[\ud800-\udbff]$/.test(text)

/** At most `most` UTF-16 units, without half a character at the end. */
export const beginning = (text: string, most: number): string => {
  if (text.length <= most) return text
  const cut = text.slice(0, most)
  return endsInHalf(cut) ? cut.slice(0, -1) : cut
}
