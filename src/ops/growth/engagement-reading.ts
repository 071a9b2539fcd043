import type { engagementReading } from '#contract/growth/engagement-reading'
import { engagementView } from '#domain/growth/drafting/engagement-view'
import { loadBy } from '#store/engine/load'
import { engagementPart } from '#store/growth/engagements'
import { revisionsOfEngagement } from '#store/growth/revisions'
import { wayParts } from '#store/growth/ways'
import type { Handlers } from '../engine/call.ts'
import { numberedPageOf, numberedResult } from '../engine/paging.ts'
import { engagementRef, requireEngagement } from './shared/engagement.ts'
import { possibleActions } from './shared/possible-actions.ts'
import { wayView } from './shared/way.ts'

export const engagementReadingHandlers: Handlers<Omit<typeof engagementReading, 'look'>> = {
  async get({ id }, context) {
    const { engagement: row, ...way } = await loadBy(context.read, {
      engagement: engagementPart(id),
      ...wayParts(engagementRef({ id })),
    })
    const engagement = requireEngagement(row)
    const actions = possibleActions(context, engagement)
    return { engagement: { ...engagementView(engagement), actions, ...wayView(way) } }
  },

  async revisions({ id, ...input }, { read }) {
    const page = numberedPageOf(input)
    const { engagement, revisions } = await loadBy(read, {
      engagement: engagementPart(id),
      revisions: revisionsOfEngagement(id, page),
    })
    requireEngagement(engagement)
    const { rows, next_cursor } = numberedResult(revisions, page.limit)
    return { revisions: rows.map(({ title: _, ...revision }) => revision), next_cursor }
  },
}
