/**
 * What the agent remembers beyond a conversation. A memory belongs to the workspace, or to one
 * person, and then only they see it.
 */
import { createHash } from 'node:crypto'
import { memoryRecord } from '#contract/records/agent/memory'
import type { RowOf } from '#contract/records/record'
import { viewOf } from '#contract/records/view'
import { fail } from '#kernel/errors'
import { normalForm } from '#kernel/normal-form'

export type Memory = RowOf<typeof memoryRecord>
export type MemoryScope = Memory['scope']

export const memoryLimits = {
  /** The limit for the workspace, and for each person. */
  all: 500,
  /** Memories that a turn is given without a search. */
  given: 8,
} as const

/** Texts that differ only in spacing are one memory. */
const plain = (text: string): string => normalForm(text.trim().replace(/\s+/gu, ' '), 'NFC')

export const memoryHash = (text: string): string =>
  createHash('sha256').update(plain(text)).digest('hex')

/**
 * Who owns a new memory. Without a scope it belongs to the person, if there is one. Throws
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

/** What the scope of a new memory already holds. */
export interface Stored {
  /** A memory with equal text. */
  equal: Memory | undefined
  count: number
  /** The memory that has been unused the longest. */
  oldest: string | null
}

type Told = Pick<Memory, 'id' | 'scope' | 'person_id' | 'text' | 'untrusted' | 'job_id'> & {
  now: Date
}

/** The memory to store, whether it is new, and which memory is dropped to make room. */
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
  return { memory, isNew: true, removed: count >= memoryLimits.all ? oldest : null }
}

export const memoryView = viewOf(memoryRecord)
