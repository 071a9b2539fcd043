/** The rows of an engagement: every change of one's text goes through here, so that earlier texts are kept. */
import type { Engagement } from '#domain/growth/drafting/engagement'
import { replacedBy } from '#domain/growth/drafting/revision'
import type { Query } from '#store/engine/db'
import { saveEngagement } from '#store/growth/engagements'
import { keepRevision } from '#store/growth/revisions'

/** Saves an engagement, and keeps the text that the change replaces. */
export const engagementSaved = (before: Engagement, next: Engagement): Query[] => {
  const replaced = replacedBy(before, next)
  return [saveEngagement(next), ...(replaced ? keepRevision(replaced) : [])]
}
