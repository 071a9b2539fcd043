/** Webhook endpoints of workspaces. */

import type { Endpoint } from '#domain/app/webhook'
import type { SealedRow } from '#kernel/sealer'
import type { Fragment, Query, Sql } from '../engine/db.ts'
import { mapPart, one } from '../engine/load.ts'

export interface EndpointRow extends Endpoint {
  /** Sealed for `secretRow`. */
  secret: Buffer
  previous_secret: Buffer | null
  previous_until: Date | null
  created_at: Date
}

/** The name that a sealed webhook secret is bound to. */
export const secretRow = (tenantId: string): SealedRow => `webhook_endpoint/${tenantId}`

/** The endpoint as commands see it, without its secrets. */
export type StoredEndpoint = Omit<EndpointRow, 'secret' | 'previous_secret'>

const columns = (sql: Sql): Fragment =>
  sql`id, url, events, previous_until, status, disabled_reason, failing_since, failures, held_until,
    created_at, updated_at`

const times = {
  previous_until: true,
  failing_since: true,
  held_until: true,
  created_at: true,
  updated_at: true,
} as const

export const endpointPart = one<StoredEndpoint>(
  times,
  (sql) => sql`select ${columns(sql)} from webhook_endpoint`,
)

/** Secrets in hex, because JSON cannot carry bytes. */
type InHex = StoredEndpoint & { secret: string; previous_secret: string | null }

const inBytes = ({ secret, previous_secret, ...endpoint }: InHex): EndpointRow => ({
  ...endpoint,
  secret: Buffer.from(secret, 'hex'),
  previous_secret: previous_secret === null ? null : Buffer.from(previous_secret, 'hex'),
})

export const endpointWithSecrets = mapPart(
  one<InHex>(
    times,
    (sql) => sql`select ${columns(sql)}, encode(secret, 'hex') as secret,
      encode(previous_secret, 'hex') as previous_secret
      from webhook_endpoint`,
  ),
  (row) => row && inBytes(row),
)

/** An endpoint's state, without secrets. */
export interface EndpointOverview extends Omit<Endpoint, 'id' | 'failures'> {
  /** Null once the previous secret no longer signs. */
  previous_secret_until: Date | null
  /** How many events are still to be sent. */
  waiting: number
  created_at: Date
}

/** One row, or none if there is no endpoint. Times in the past are returned as null. */
export const endpointOverview: Query<EndpointOverview> = (sql) =>
  sql`select url, events, status, disabled_reason, failing_since, case when held_until > now()
    then held_until end as held_until,
      case when previous_until > now() then previous_until end as previous_secret_until,
      (select count(*)::int from outbox where state = 'pending') as waiting, created_at, updated_at
    from webhook_endpoint`

/** Replaces the endpoint. Its sealed secret becomes the only valid one. */
export const putEndpoint =
  ({ id, url, events, updated_at: now }: Endpoint, secret: Buffer): Query =>
  (sql) =>
    sql`insert into webhook_endpoint as w (id, url, events, secret, status, created_at, updated_at)
        values (${id}, ${url}, ${events}, ${secret}, 'active', ${now}, ${now})
        on conflict (tenant_id) do update set id = excluded.id, url = excluded.url,
          events = excluded.events, secret = excluded.secret,
          previous_secret = null, previous_until = null, status = 'active', disabled_reason = null,
            failing_since = null, failures = 0,
          held_until = null, created_at = excluded.created_at, updated_at = excluded.updated_at`

/** Saves everything but the secrets. */
export const updateEndpoint =
  ({
    id,
    url,
    events,
    status,
    disabled_reason,
    failing_since,
    failures,
    held_until,
    updated_at,
  }: Endpoint): Query =>
  (sql) =>
    sql`update webhook_endpoint set id = ${id}, url = ${url}, events = ${events},
      status = ${status}, disabled_reason = ${disabled_reason},
      failing_since = ${failing_since}, failures = ${failures}, held_until = ${held_until},
        updated_at = ${updated_at}`

/** The current secret stays valid until `previousUntil`. */
export const rotateSecret =
  ({ secret, previousUntil, now }: { secret: Buffer; previousUntil: Date; now: Date }): Query =>
  (sql) =>
    sql`update webhook_endpoint set previous_secret = secret, previous_until = ${previousUntil},
      secret = ${secret}, updated_at = ${now}`

/** Saves the endpoint's state. */
export const saveEndpoint =
  ({
    id,
    status,
    disabled_reason,
    failing_since,
    failures,
    held_until,
    updated_at,
  }: Endpoint): Query =>
  (sql) =>
    sql`update webhook_endpoint set status = ${status}, disabled_reason = ${disabled_reason},
      failing_since = ${failing_since},
      failures = ${failures}, held_until = ${held_until}, updated_at = ${updated_at}
        where id = ${id}`
