/** What a row of sending work carries: how often it has failed, and a person's word to post again. */
import type { Again } from '#domain/growth/sending/post-again'
import type { Work } from '#store/engine/work'

/** Sends of a post that provably failed since it was due. */
export const triesOf = (work: Work): number => Number(work.payload.tries ?? 0)

/** The person's word that a row carries, if any. */
export const againOf = (work: Work): Again | undefined => {
  const stored = work.payload.again as StoredAgain | undefined
  if (!stored) return undefined
  const { asked_at, clear } = stored
  return { askedAt: new Date(asked_at), ...(clear ? { clear: { ...clear, readAt: new Date(clear.readAt) } } : {}) }
}

/** As JSON keeps it. */
interface StoredAgain {
  asked_at: string
  clear?: { readAt: string; attemptId: string; review: boolean }
}

export const againPayload = ({ askedAt, clear }: Again): StoredAgain => ({
  asked_at: askedAt.toISOString(),
  ...(clear ? { clear: { ...clear, readAt: clear.readAt.toISOString() } } : {}),
})
