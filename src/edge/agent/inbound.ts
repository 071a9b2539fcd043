/**
 * Where signed posts from outside come in. Each is verified by its raw bytes before anything reads
 * it, and then begins a job.
 */
import { Buffer } from 'node:buffer'
import { POST_BYTES } from '#domain/agent/trigger/webhook-rule'
import { AppError, fail } from '#kernel/errors'
import { isUuid } from '#kernel/ids'
import type { Sealer } from '#kernel/sealer'
import { storable } from '#kernel/storable'
import { type Bound, type Operation, workspaceOperations } from '#ops/engine/bind'
import type { Call } from '#ops/engine/call'
import { newWebhookSecret, verifiedId } from '#port/webhook'
import { ruleSecretRow, sealedSecretPart, tenantOfRule } from '#store/agent/webhook-rules'
import type { Db } from '#store/engine/db'
import { loadBy } from '#store/engine/load'
import { decodeText, type Incoming } from '../incoming.ts'
import { answerResponse, requestIdOf } from '../respond.ts'
import type { Route } from '../route.ts'

export interface InboundDeps {
  db: Db
  sealer: Sealer
  /** Operations that run in the process that owns the workspace. */
  internal: Bound[]
  /** The deployment's time, in epoch milliseconds. */
  now(): number
}

/** Refuses an unknown address with the same error as a wrong signature. */
const refuse = (): never =>
  fail('unauthenticated', 'no webhook rule has this address and signature')

/** Signs for rules that do not exist, so that refusing them takes as long as refusing others. */
const NOBODYS = newWebhookSecret()

interface Addressed {
  tenantId: string
  secret: string
}

const findAddressed = async (
  { db, sealer }: InboundDeps,
  id: string,
): Promise<Addressed | undefined> => {
  const tenantId = isUuid(id) ? await tenantOfRule(db, id) : undefined
  if (tenantId === undefined) return undefined
  const { sealed } = await loadBy((query) => db.read({ tenantId }, query), {
    sealed: sealedSecretPart(id),
  })
  return (
    sealed && {
      tenantId,
      secret: sealer.open(Buffer.from(sealed.secret, 'base64'), ruleSecretRow(id)),
    }
  )
}

/** The call by which the deployment itself passes on what came in. */
export const callFrom = (tenantId: string, incoming: Incoming): Call => ({
  tenantId,
  principal: { kind: 'system', id: 'inbound' },
  scopes: new Set(['api:write'] as const),
  surface: 'rest',
  requestId: requestIdOf(incoming.request),
})

const receive = async (
  deps: InboundDeps,
  start: Operation,
  incoming: Incoming,
): Promise<Response> => {
  const { request, params } = incoming
  const body = await incoming.bytes({ limit: POST_BYTES })
  const id = (params?.id ?? '').toLowerCase()
  const found = await findAddressed(deps, id)
  const event = verifiedId(request.headers, body, {
    secret: found?.secret ?? NOBODYS,
    now: deps.now(),
  })
  if (!found || event === undefined) return refuse()
  const input = { id, event, body: storable(decodeText(body)) }
  const call = callFrom(found.tenantId, incoming)
  const answer = await start
    .run(() => input, call)
    .catch((cause: unknown) => {
      if (cause instanceof AppError && cause.code === 'not_found') return refuse()
      throw cause
    })
  const { retryAfter } = JSON.parse(answer.body) as { retryAfter: number }
  if (retryAfter > 0) fail('rate_limited', 'webhook_rule', { retryAfter })
  return answerResponse({ status: 200, body: RECEIVED }, call.requestId)
}

const RECEIVED = JSON.stringify({ received: true })

export const inboundRoutes = (deps: InboundDeps): Route[] => {
  const start = workspaceOperations(deps.internal).find(
    ({ id }) => id === 'operator.inbound.receive',
  )!
  return [
    {
      method: 'POST',
      path: '/webhooks/rules/:id',
      respond: (incoming) => receive(deps, start, incoming),
    },
  ]
}
