/**
 * What a person is asked: a sentence about each operation that publishes, approves or changes the
 * workspace, and what a decision binds.
 */
import { engagementSayings } from './say-engagements.ts'
import { fetchSayings } from './say-fetching.ts'
import { itemTextSayings } from './say-item-texts.ts'
import { itemSayings } from './say-items.ts'
import { ruleSayings } from './say-rules.ts'
import { workspaceSayings } from './say-workspace.ts'
import type { Saying, Says } from './saying.ts'

const sayings: Partial<Record<string, Says<never>>> = {
  ...itemSayings,
  ...itemTextSayings,
  ...engagementSayings,
  ...ruleSayings,
  ...workspaceSayings,
  ...fetchSayings,
}

/**
 * Of an operation by its id, with valid input. Undefined for operations that have no sentence of
 * their own.
 */
export const subjectOf = (operation: string, input: unknown): Saying | undefined =>
  sayings[operation]?.(input as never)
