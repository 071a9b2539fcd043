/** What developers get: the Markdown itself. */
import { NOTHING } from './layout.ts'
import { markdownParts } from './markdown.ts'

const LIMIT = 16_000

/** At least one part, each of at most 16,000 characters. */
export const devForm = (markdown: string): string[] => {
  const parts = markdownParts(markdown, LIMIT)
  return parts.length > 0 ? parts : [NOTHING]
}
