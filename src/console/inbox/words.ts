/** What the kinds of what waits are called. */
import type { EntryKind } from './entries.ts'

interface KindWords {
  one: string
  many: string
}

export const kindWords: Record<EntryKind, KindWords> = {
  draft: { one: 'draft', many: 'Drafts' },
  article: { one: 'article', many: 'Articles' },
}
