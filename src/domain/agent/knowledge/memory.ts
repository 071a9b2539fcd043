/**
 * What the agent is to remember beyond a conversation: of the workspace, or of one person, who
 * alone is shown it.
 */
import { createHash } from 'node:crypto'
import { memoryRecord } from '#contract/records/agent/memory'
import type { RowOf } from '#contract/records/record'
import { viewOf } from '#contract/records/view'
import { fail } from '#kernel/errors'
import { normalForm } from '#kernel/normal-form'

export type Memory = RowOf<typeof memoryRecord>
export type MemoryScope = Memory['scope']

/** Of the workspace, and of each person. */
export const MOST_MEMORIES = 500
/** Those that a turn is given without a search. */
export const MOST_GIVEN = 8

/** Equal text is one memory, however it is spaced. */
const plain = (text: string): string => normalForm(text.trim().replace(/\s+/gu, ' '), 'NFC')

export const memoryHash = (text: string): string =>
  createHash('sha256').update(plain(text)).digest('hex')

/**
 * Whose a new memory is. Without a scope it is the person's, if there is one. Throws
 * `invalid_input`.
 */
export const memoryOwner = (
  scope: MemoryScope | undefined,
  personId: string | null,
): { scope: MemoryScope; person_id: string | null } => {
  if (scope === 'workspace') return { scope, person_id: null }
  if (personId !== null) return { scope: 'user', person_id: personId }
  return scope === 'user' ? refuseUser() : { scope: 'workspace', person_id: null }
}

const refuseUser = (): never => {
  const message = 'must be workspace: this key belongs to no person'
  return fail('invalid_input', `scope ${message}`, { details: [{ path: 'scope', message }] })
}

/** What the scope of a new memory holds already. */
export interface Stored {
  /** One of equal text. */
  equal: Memory | undefined
  count: number
  /** The one unused for the longest time. */
  oldest: string | null
}

type Told = Pick<Memory, 'id' | 'scope' | 'person_id' | 'text' | 'untrusted' | 'job_id'> & {
  now: Date
}

/** The memory as it is to be stored, whether it is new, and which one makes room for it. */
export const remember = (
  { equal, count, oldest }: Stored,
  { now, text, ...told }: Told,
): { memory: Memory; isNew: boolean; removed: string | null } => {
  if (equal)
    return { memory: { ...equal, last_used_at: now, updated_at: now }, isNew: false, removed: null }
  const memory = {
    ...told,
    text: plain(text),
    text_hash: memoryHash(text),
    last_used_at: null,
    created_at: now,
    updated_at: now,
  }
  return { memory, isNew: true, removed: count >= MOST_MEMORIES ? oldest : null }
}

export const memoryView = viewOf(memoryRecord)
