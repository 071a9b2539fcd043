/**
 * The rows of an engagement. Every change of its text goes through here, so that earlier texts are
 * kept.
 */
import type { Engagement } from '#domain/growth/drafting/engagement'
import { replacedBy } from '#domain/growth/drafting/revision'
import type { Query } from '#store/engine/db'
import { removeEngagement, restoreEngagement, saveEngagement } from '#store/growth/engagements'
import { keepRevision } from '#store/growth/revisions'
import { engageAgain, reopenSignal } from '#store/growth/signals'
import { engagedElsewhere } from './restored.ts'

/** Saves an engagement, and keeps the text that the change replaces. */
export const engagementSaved = (before: Engagement, next: Engagement): Query[] => {
  const replaced = replacedBy(before, next)
  return [
    saveEngagement(next),
    ...(replaced ? keepRevision(replaced) : []),
    ...engagedElsewhere(before, next),
  ]
}

/**
 * Deletes an engagement, and frees its signal for another one. `next`: the engagement as it would
 * be restored.
 */
export const engagementRemoved = (next: Engagement): Query[] => [
  removeEngagement(next),
  ...reopenSignal(next),
]

export const engagementRestored = (next: Engagement): Query[] => [
  restoreEngagement(next),
  ...engageAgain(next),
]
