/** Bluesky's longest post by this count: 300 grapheme clusters, and 3,000 bytes. */
export const GRAPHEME_LIMIT = 300

/** How limits describe this count. */
export const GRAPHEME_COUNTING =
  'as Bluesky counts: an emoji, or a letter with its accents, as 1; never less than a tenth of the bytes in UTF-8'

const BYTES_EACH = 10
const PLAIN = /^[\x20-\x7e\n]*$/

let segmenter: Intl.Segmenter | undefined

/** In linear time, whatever the text. */
const graphemes = (text: string): number => {
  segmenter ??= new Intl.Segmenter()
  let count = 0
  for (const _ of segmenter.segment(text)) count++
  return count
}

/**
 * The length of a text as Bluesky limits it: its grapheme clusters, or a tenth of its bytes if that
 * is more, because a post of 300 clusters may have ten bytes for each.
 */
export const graphemeLength = (text: string): number => {
  if (PLAIN.test(text)) return text.length
  const bytes = new TextEncoder().encode(text).length
  return Math.max(graphemes(text), Math.ceil(bytes / BYTES_EACH))
}
