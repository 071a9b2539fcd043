/** What the operations on all kinds of generations share. */
import { Type as T } from '@sinclair/typebox'
import { created, oneOf, page } from './shapes.ts'

const statuses = ['queued', 'generating', 'ready', 'failed'] as const

export const GenerationStatus = oneOf(statuses)

/** The input of the operations that list them. */
export const generationsPage = {
  status: T.Optional(oneOf(statuses, { description: 'Return only those in this state.' })),
  ...created,
  ...page,
}

/** What every operation that cancels one declares. */
export const cancels = {
  errors: ['not_found'],
  roles: ['editor'],
  recalls: true,
  repeatable: true,
} as const
