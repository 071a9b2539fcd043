/** What the operations of the agent have in common. Their names are in camel case, as the API document shows them. */
import { Type as T } from '@sinclair/typebox'
import { cursorLike, NextCursor } from './shapes.ts'

/** Keys need this scope beside api:read or api:write. */
export const use = { also: 'workspace:use' } as const

/** Everybody, viewers included: a viewer's agent has tools that only read. */
export const everybody = { roles: ['editor', 'approver', 'viewer'] } as const

export const page = {
  limit: T.Optional(T.Integer({ minimum: 1, maximum: 50, default: 25, description: 'Page size. Default 25.' })),
  cursor: cursorLike('MDE4ZjQ3YTAtMDAwMC03MDAwLTgwMDAtMDAwMDAwMDAwMDAw'),
}

export const nextCursor = { nextCursor: NextCursor }
