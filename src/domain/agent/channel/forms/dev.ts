/** What developers get: the Markdown itself. */
import { NOTHING } from './layout.ts'
import { markdownParts } from './markdown.ts'

export const LONGEST_DEV = 16_000

/** At least one part, each of at most 16,000 characters. */
export const devForm = (markdown: string): string[] => {
  const parts = markdownParts(markdown, LONGEST_DEV)
  return parts.length > 0 ? parts : [NOTHING]
}
