/** The versions of a text, oldest first, with who wrote each and when. */
import { useRead } from '../../api/queries.ts'

/** All that are kept. */
const ALL = { limit: 100 }

export type TextOf = 'item' | 'engagement'

export const useRevisions = (of: TextOf, id: string) =>
  useRead(of === 'item' ? 'growth.items.revisions' : 'growth.engagements.revisions', { id, ...ALL })
