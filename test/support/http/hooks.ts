/**
 * A workspace with a webhook endpoint: its events, their deliveries, and the commands of its
 * operator.
 */

import { type WebhookTimes, webhookTimes } from '#domain/app/webhook'
import { newId } from '#kernel/ids'
import { scopes } from '#kernel/scopes'
import { workspaceOperations } from '#ops/engine/bind'
import { createOperations } from '#ops/index'
import type { NewEvent } from '#store/engine/outbox'
import { letterOf } from '../actors/letters.ts'
import type { TestApp } from '../app.ts'
import { eventually } from '../eventually.ts'
import type { Received } from './receiver.ts'

export interface OutboxRow {
  id: string
  type: string
  state: string
  attempts: number
  next_at: Date | null
  last_error: string | null
  expires_at: Date | null
}

interface EndpointState {
  status: string
  disabled_reason: string | null
  failing_since: Date | null
  failures: number
  held_until: Date | null
}

export interface Hook {
  tenantId: string
  /** Sets the endpoint; resolves with its secret. */
  set(url: string, events?: string[]): Promise<string>
  /** Resolves with the new secret. */
  rotate(): Promise<string>
  run(name: 'test' | 'replay', input?: { id: string }): Promise<{ event_id: string }>
  /** Resolves with what is still on the wire. */
  disable(): Promise<{ event_id: string; origin: string; since: string }[]>
  /** Writes events as any letter does. */
  emit(...events: NewEvent[]): Promise<void>
  /** Oldest first. */
  outbox(): Promise<OutboxRow[]>
  endpoint(): Promise<EndpointState>
  /**
   * When delivery is due next, according to its row of work and to the actor; null if it is not
   * due, or if the actor wakes earlier for something else.
   */
  due(): Promise<{ run_at: Date | null; wake_at: Date | null }>
  audits(): Promise<{ operation: string; detail: Record<string, unknown> }[]>
  /** The same workspace, served by another app. */
  at(app: TestApp): Hook
}

const hookAt = (app: TestApp, tenantId: string): Hook => {
  const { owner, workplace } = app
  const run = async (name: string, input: Record<string, unknown>) => {
    const operation = workspaceOperations(createOperations(workplace.world)).find(
      ({ id }) => id === `app.webhook.${name}`,
    )!
    const call = {
      tenantId,
      principal: { kind: 'system', id: 'operator' },
      scopes: new Set([...scopes, 'session' as const]),
      surface: 'admin',
    } as const
    return JSON.parse((await operation.run(() => input, { ...call, requestId: newId() })).body)
  }
  return {
    tenantId,
    set: async (url, events = []) => (await run('set', { url, events })).secret,
    rotate: async () => (await run('rotate', {})).secret,
    run: async (name, input = undefined) => ({
      event_id: (await run(name, { ...input })).event?.id,
    }),
    disable: async () => (await run('disable', {})).in_flight,
    emit: (...events) =>
      workplace.world.ask(
        tenantId,
        letterOf(() => ({ reply: undefined, effects: { events } })),
      ),
    outbox: async () => [
      ...(await owner<
        OutboxRow[]
      >`select id, type, state, attempts, next_at, last_error, expires_at from outbox
        where tenant_id = ${tenantId} order by id`),
    ],
    endpoint: async () =>
      (
        await owner<
          EndpointState[]
        >`select status, disabled_reason, failing_since, failures, held_until from webhook_endpoint
          where tenant_id = ${tenantId}`
      )[0]!,
    due: async () =>
      (
        await owner<{ run_at: Date | null; wake_at: Date | null }[]>`
          select case when wake_at < coalesce((select min(run_at) from work
            where tenant_id = ${tenantId} and lane <> 'delivery'), 'infinity')
            then wake_at end as wake_at,
            (select run_at from work where tenant_id = ${tenantId} and lane = 'delivery') as run_at
              from actor where tenant_id = ${tenantId}`
      )[0]!,
    audits: async () => [
      ...(await owner<
        { operation: string; detail: Record<string, unknown> }[]
      >`select operation, detail from audit
        where tenant_id = ${tenantId} and operation like '%webhook%' order by id`),
    ],
    at: (other) => hookAt(other, tenantId),
  }
}

/** A new workspace with an endpoint. */
export const newHook = async (app: TestApp): Promise<Hook> =>
  hookAt(app, (await app.newWorkspace()).tenantId)

/** The hook of an existing workspace. */
export const hookOf = hookAt

/** An event of a record, numbered. */
export const eventOf = (record: string, n = 0): NewEvent => ({
  type: 'growth.item.posted',
  data: { item_id: record, n },
})

/** Attempts in quick succession, more than any test needs. */
export const quickRetries: WebhookTimes = {
  ...webhookTimes,
  scheduleMs: [0, ...Array(1_000).fill(20)],
}

export const statesOf = (rows: OutboxRow[]): string[] => rows.map(({ state }) => state)

/** The outbox, once no event is pending. */
export const settledOutbox = (hook: Hook): Promise<OutboxRow[]> =>
  eventually(hook.outbox, (rows) => rows.length > 0 && !statesOf(rows).includes('pending'))

export const idOf = ({ headers }: Received): string => String(headers['webhook-id'])
export const dataOf = ({ body }: Received): { item_id: string; n: number } => JSON.parse(body).data
