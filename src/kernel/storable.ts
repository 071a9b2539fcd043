/** Text that Postgres can keep and JSON can carry. */

/** Without NUL characters; unpaired surrogates become U+FFFD. */
export const storable = (text: string): string => text.toWellFormed().replaceAll('\0', '')

const endsInHalf = (text: string): boolean => /[\ud800-\udbff]$/.test(text)

/** At most so many UTF-16 units, without half a character at the end. */
export const beginning = (text: string, most: number): string => {
  if (text.length <= most) return text
  const cut = text.slice(0, most)
  return endsInHalf(cut) ? cut.slice(0, -1) : cut
}
