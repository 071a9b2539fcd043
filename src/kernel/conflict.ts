/** Why the state of things refuses a request: what a 409 says beside its code. */

/**
 * Every `error.reason` of a 409, with what it means. Clients act on it; the message is for people.
 */
export const conflictReasons = {
  wrong_state:
    'The state of the record does not allow this. If somebody brought it there by a decision, by and at say who and when.',
  stale_text:
    'The text is not the one whose hash was sent. details has the present content_hash; by and at say who wrote it.',
  stale_revision:
    'The record has a later revision than the one that was sent. details has the present one; by and at say who wrote it.',
  stale_record:
    'The record, or the tool that it names, has changed since it was read. Read it again.',
  stale_approval:
    'The text or the account has changed since its approval, so nothing was sent. Approve it again.',
  stale_call:
    'The call of the agent is not the one that was seen, or was decided with other arguments.',
  slot_taken:
    'Another post of the account has this minute. next_free_at is the next free slot of the cadence.',
  no_free_slot: 'The cadence has no free slot in the time that is looked at.',
  in_flight:
    'It is on its way to the network and can no longer be taken back. Look again in a moment.',
  in_doubt: 'It may already be on the network. A person must look there first.',
  restored:
    'It may have gone out elsewhere since the backup or copy that this deployment was made from. A person must decide on it first.',
  taken_back:
    'Somebody took it back before it was sent, so nothing was sent. by and at say who and when.',
  too_late: 'The time for this is over.',
  request_running: 'The first request with this Idempotency-Key is still running.',
  needs_person: 'A person must allow this call first.',
  duplicate: 'There is one already, and there can be only one: of this name, content or account.',
  limit_reached: 'There are as many as there can be. Remove or settle some first.',
  missing_prerequisite:
    'Something that this needs is not there: an account, a channel, a model or a conversation.',
  network_rule: 'The network does not allow this. details may have a link to do it by hand.',
  automation_paused: 'Automation is paused.',
  paused_everywhere:
    'The operator has paused every workspace of this deployment. Only the operator can end that.',
  last_owner: 'A workspace needs an owner, and this is the last one.',
  others_involved: 'Others wrote in it or read it, and could no longer see it.',
  other_workspace:
    'The session is in another workspace than the one that was named. Nothing was read or written.',
  deletion_scheduled: 'The workspace is scheduled for deletion.',
  many_at_once: 'This cannot be done with many records at once here. Do it with each.',
  unfit_database: 'The database is not one that this version of the server can use.',
} as const

export type ConflictReason = keyof typeof conflictReasons

/** A person, a key, a job of the agent or the server. */
interface Actor {
  kind: 'person' | 'key' | 'agent' | 'system'
  id: string
  name?: string | null
}

/** As clients see it. */
export interface Conflict {
  reason: ConflictReason
  /** Who acted first. The name is null for those who may not see it. */
  by?: Actor & { name: string | null }
  /** When, in ISO 8601. */
  at?: string
  /** The next free slot, in ISO 8601; null if the cadence has none. With `slot_taken` alone. */
  next_free_at?: string | null
}

/** As it is thrown. */
export interface ConflictGiven {
  reason: ConflictReason
  by?: Actor | null | undefined
  at?: Date | string | null | undefined
  next_free_at?: Date | string | null | undefined
}

const textOf = (time: Date | string): string => new Date(time).toISOString()

export const conflictOf = ({ reason, by, at, next_free_at }: ConflictGiven): Conflict => ({
  reason,
  ...(by && { by: { kind: by.kind, id: by.id, name: by.name ?? null } }),
  ...(at && { at: textOf(at) }),
  ...(next_free_at === undefined ? {} : { next_free_at: next_free_at && textOf(next_free_at) }),
})
