/**
 * The tags that set strangers' words apart for a model: `<untrusted-…>`, with a name that nobody
 * outside can know.
 */
import { randomBytes } from 'node:crypto'

const BEGINNING = 'untrusted-'
const TAG = /<\/?untrusted-[0-9a-f]{16}>/

export const newTagName = (): string => `${BEGINNING}${randomBytes(8).toString('hex')}`

const CLOSED_BY_TAG = new RegExp(`${TAG.source}$`)
const LONGEST = `</${BEGINNING}`.length + 16 + 1

/**
 * Removes the tags, which a model may repeat together with the words between them. No tag is left,
 * however they are nested in one another.
 */
export const withoutTags = (text: string): string => {
  if (!TAG.test(text)) return text
  // Each part ends with a `>` that could end a tag. The tag may begin in parts before it.
  const kept: string[] = []
  let tail = ''
  for (const part of text.split(/(?<=>)/)) {
    kept.push(part)
    tail = (tail + part).slice(-LONGEST)
    const tag = CLOSED_BY_TAG.exec(tail)?.[0]
    if (tag === undefined) continue
    let left = tag.length
    while (left > 0) {
      const last = kept.pop()!
      if (last.length > left) kept.push(last.slice(0, last.length - left))
      left -= last.length
    }
    tail = endOf(kept)
  }
  return kept.join('')
}

const endOf = (parts: readonly string[]): string => {
  let end = ''
  for (let index = parts.length - 1; index >= 0 && end.length < LONGEST; index--)
    end = parts[index]! + end
  return end.slice(-LONGEST)
}

/** The first such tag in a text. Only an answer of ours can have brought it there. */
export const tagIn = (text: string): string | undefined => TAG.exec(text)?.[0]
