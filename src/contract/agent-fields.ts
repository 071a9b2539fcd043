/**
 * What the operations of the agent have in common. Their names are in camel case, as the API
 * document shows them.
 */
import { Type as T } from '@sinclair/typebox'
import { cursorLike, Id, NextCursor } from './shapes.ts'

/** Keys need this scope in addition to api:read or api:write. */
export const use = { also: 'workspace:use' } as const

/** Everybody, including viewers: a viewer's agent has only tools that read. */
export const everybody = { roles: ['editor', 'approver', 'viewer'] } as const

/** Everybody except viewers. */
export const workers = { roles: ['editor', 'approver'] } as const

export const shortPage = {
  limit: T.Optional(
    T.Integer({ minimum: 1, maximum: 50, default: 25, description: 'Page size. Default 25.' }),
  ),
  cursor: cursorLike('MDE4ZjQ3YTAtMDAwMC03MDAwLTgwMDAtMDAwMDAwMDAwMDAw'),
}

export const nextCursor = { nextCursor: NextCursor }

/** The input of an operation that follows a record. */
export const following = {
  id: Id,
  after: T.Optional(
    T.Integer({
      minimum: 0,
      maximum: 999_999_999_999_999,
      default: 0,
      description: 'The seq of the last event that you have.',
    }),
  ),
  wait: T.Optional(
    T.Integer({
      minimum: 0,
      maximum: 25,
      default: 0,
      description: 'Seconds to wait for the next event.',
    }),
  ),
}

/** Where the next read goes on. */
export const followed = {
  nextSeq: T.Integer({ description: 'Pass it as after.' }),
  resync: T.Boolean({
    description:
      'There is no event with the seq of after, as when the server was restored from a backup. These are the events from the beginning: forget what you have.',
  }),
}
