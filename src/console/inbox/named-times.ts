/** The times that drafts decided together are approved for, named before they are. */
import type { AnswerOf } from '../api/operations.ts'
import type { SelectedDraft } from './selection.ts'

type Entry = AnswerOf<'growth.calendar.get'>['entries'][number]

const channelOf = ({ kind }: SelectedDraft): string => (kind === 'article' ? 'articles' : 'posts')

/**
 * The free slots of each draft's channel, the soonest for the first draft, by the draft's id. A
 * draft for which none is left has none. `now`: a time as text. `asked`: times that others are just
 * being approved for.
 */
export const namedTimes = (
  drafts: readonly SelectedDraft[],
  entries: readonly Entry[],
  { now, asked }: { now: string; asked: ReadonlySet<string | undefined> },
): ReadonlyMap<string, string> => {
  const free = new Map<string, string[]>()
  for (const { item, channel, at } of entries)
    if (item === null && at > now && !asked.has(at))
      free.set(channel, [...(free.get(channel) ?? []), at])
  const named = new Map<string, string>()
  for (const draft of drafts) {
    const at = free.get(channelOf(draft))?.shift()
    if (at !== undefined) named.set(draft.id, at)
  }
  return named
}
