/** Every operation of the contract: its types, and its method and path. */
import type { Static, TSchema } from '@sinclair/typebox'
import type { agentResources } from '#contract/agent-resources'
import type { appResources } from '#contract/app-resources'
import type { growthResources } from '#contract/growth-resources'
import type { Method } from '#contract/op'
import type { Shown } from '#contract/shapes'
import type { Role } from '#kernel/roles'
import { operationTable } from './operation-table.ts' with { type: 'macro' }

type OperationsIn<Rs> = {
  [N in keyof Rs]: Rs[N] extends { prefix: infer P extends string; group: infer G }
    ? { [K in keyof G & string as `${P}.${K}`]: G[K] }
    : never
}[keyof Rs]

type Flat<U> = (U extends unknown ? (one: U) => void : never) extends (all: infer I) => void
  ? I
  : never

type Operations = Flat<
  | OperationsIn<typeof growthResources>
  | OperationsIn<typeof agentResources>
  | OperationsIn<typeof appResources>
>

export type OperationId = keyof Operations & string

type SchemaOf<Id extends OperationId, Side extends 'input' | 'output'> = Operations[Id] extends {
  [S in Side]: infer Schema extends TSchema
}
  ? Static<Schema>
  : never

export type InputOf<Id extends OperationId> = Shown<SchemaOf<Id, 'input'>>
export type AnswerOf<Id extends OperationId> = Shown<SchemaOf<Id, 'output'>>

/** Operations that answer with records: queries, and reads of the person. */
export type ReadId = {
  [Id in OperationId]: Operations[Id] extends { kind: 'query' | 'personal' } ? Id : never
}[OperationId]

export interface CalledOperation {
  method: Method
  path: string
  kind: string
  roles: readonly Role[]
  /** The field of the input that is the whole body. */
  body?: string | undefined
}

const table = new Map(
  operationTable().map(([id, method, path, kind, roles, body]) => [
    id,
    { method, path, kind, roles, body } as CalledOperation,
  ]),
)

const calledOperation = (id: OperationId): CalledOperation => table.get(id)!

/** Whether a person of this role may call it. */
export const mayCall = (role: Role, id: OperationId): boolean =>
  role === 'owner' || calledOperation(id).roles.includes(role)

/** Who besides owners may call it, in words: `approvers`. */
export const whoMayCall = (id: OperationId): string =>
  [...calledOperation(id).roles, 'owner' as const].map((role) => `${role}s`).join(' and ')

/** Operations whose effect happens once, however often a request with one key arrives. */
const KEYED = ['command', 'awaited', 'prepared']
export const takesIdempotencyKey = (id: OperationId): boolean =>
  KEYED.includes(calledOperation(id).kind)

/** The address and the body of a call. */
export const requestOf = (
  id: OperationId,
  input: Record<string, unknown>,
): { method: Method; url: string; body: Record<string, unknown> | undefined } => {
  const { method, path, body: whole } = calledOperation(id)
  const inPath = new Set<string>()
  const at = path.replace(/:([a-z_]+)/gi, (_, name: string) => {
    inPath.add(name)
    return encodeURIComponent(String(input[name]))
  })
  const rest = Object.entries(input).filter(
    ([name, value]) => !inPath.has(name) && value !== undefined,
  )
  if (whole !== undefined)
    return { method, url: at, body: input[whole] as Record<string, unknown> | undefined }
  if (method !== 'GET')
    return { method, url: at, body: rest.length > 0 ? Object.fromEntries(rest) : undefined }
  const query = new URLSearchParams(
    Object.fromEntries(rest.map(([name, value]) => [name, String(value)])),
  )
  return { method, url: query.size > 0 ? `${at}?${query}` : at, body: undefined }
}
