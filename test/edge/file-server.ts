/** A server of one download, whose records the test makes. */

import { Type as T } from '@sinclair/typebox'
import { op, type Resource } from '#contract/op'
import { nullable, record, Time } from '#contract/shapes'
import { unlimitedAddresses } from '#edge/addresses'
import { createCookies } from '#edge/cookies'
import { staticDocument } from '#edge/document'
import { createHttp } from '#edge/http'
import { createOrigins } from '#edge/origin'
import { trustIn } from '#edge/visit'
import { newId } from '#kernel/ids'
import { createLog } from '#kernel/log'
import { type Access, scopes } from '#kernel/scopes'
import { soleKey } from '#kernel/secret-keys'
import { bind } from '#ops/engine/bind'
import type { World } from '#ops/engine/call'
import { downloadSlots } from '#ops/engine/download'
import { unlimitedRates } from '#ops/engine/rates'
import { nodeSignature } from '#port/nodes'

const never = () => {
  throw new Error('this test makes no such request')
}

export const line = record({
  text: T.String(),
  count: T.Integer(),
  at: nullable(Time),
  more: T.Record(T.String(), T.Unknown()),
})
export type Line = { text: string; count: number; at: Date | null; more: Record<string, unknown> }
export const lineOf = (text: string, count = 0): Line => ({ text, count, at: null, more: {} })

export const resource = {
  prefix: 'test.file',
  about: 'A file.',
  group: {
    get: op.download(
      'GET /file',
      'Take the file.',
      { input: { name: T.Optional(T.String()) }, line },
      { roles: ['editor'], file: 'test', csv: true },
    ),
  },
} satisfies Resource

/** What the next handler yields, and how many handlers have started and have ended. */
export const files = { records: (): AsyncIterable<unknown> => never(), begun: 0, ended: 0 }

const caller = (request: Request) => ({
  tenantId: request.headers.get('x-tenant') ?? 'one',
  principal: {
    kind: 'session' as const,
    id: newId(),
    member: { personId: newId(), role: 'editor' as const },
  },
  plan: { plan: 'team', overrides: {} },
  scopes: new Set<Access>(request.headers.has('x-key') ? scopes : [...scopes, 'session']),
})

export const http = createHttp({
  internal: [],
  routes: [],
  mcp: { handle: never },
  streams: { open: never },
  hintStreams: { open: never },
  fileSlots: { take: never },
  ready: never,
  readiness: never,
  operations: bind(
    {
      world: { db: { system: async () => [] }, rates: unlimitedRates } as unknown as World,
      slots: downloadSlots(),
    },
    resource,
    {
      get: async function* () {
        files.begun++
        try {
          yield* files.records() as AsyncIterable<Line>
        } finally {
          files.ended++
        }
      },
    },
  ),
  cookies: createCookies('http://localhost'),
  origins: createOrigins('http://localhost', () => 80),
  addresses: unlimitedAddresses,
  trust: trustIn([]),
  publicUrl: 'http://localhost',
  authenticator: {
    authenticate: async ({ request }) => caller(request),
    forget: () => {},
    confirm: async () => {},
    [Symbol.asyncDispose]: never,
  },
  log: createLog('silent'),
  documents: { openapi: staticDocument({}), capabilities: staticDocument({}) },
  commit: null,
  signature: nodeSignature(soleKey(Buffer.alloc(32)), Date.now),
  serving: never,
})
