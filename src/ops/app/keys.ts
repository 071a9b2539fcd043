import type { keys } from '#contract/app/keys'
import { keyRecord } from '#contract/records/app/key'
import { SESSION_MS } from '#domain/app/person'
import { hashApiKey, newApiKey } from '#kernel/api-key'
import { AppError, fail } from '#kernel/errors'
import { newId } from '#kernel/ids'
import { plainText } from '#kernel/plain-text'
import { personPart } from '#store/app/members'
import {
  addKey,
  endKey,
  type LivingKey,
  listKeys,
  livingKeys,
  lockKey,
} from '#store/app/workspace-keys'
import { many, when } from '#store/engine/load'
import { type Principal, personOf, roleOf } from '#store/engine/principal'
import type { Handlers } from '../engine/call.ts'
import { loading } from '../engine/loading.ts'
import { pageOf, pageResult } from '../engine/paging.ts'
import { requireFreshPassword, staleness } from './access/reauthentication.ts'

/** Live keys of one workspace. */
const MAX_KEYS = 200
/** Live keys of one member, who cannot use up the keys of all. */
const MAX_OF_ONE = 50

/** What `requireRoomForKey` needs. */
export const countedKeys = livingKeys(MAX_KEYS)

/** Throws `conflict` if the workspace or the person has too many live keys. */
export const requireRoomForKey = (living: LivingKey[], personId: string | null): void => {
  if (living.length === MAX_KEYS)
    fail('conflict', `the workspace has ${MAX_KEYS} keys: revoke one first`, {
      reason: 'limit_reached',
    })
  if (
    personId === null ||
    living.filter(({ person_id }) => person_id === personId).length < MAX_OF_ONE
  )
    return
  fail('conflict', `you have ${MAX_OF_ONE} keys in this workspace: revoke one first`, {
    reason: 'limit_reached',
  })
}

const isOwner = (principal: Principal): boolean => roleOf(principal) === 'owner'

/** In milliseconds. */
const LONGEST_LIFE = 100 * 365 * 86_400_000

const expiryOf = (expiresAt: string | Date | undefined, now: Date): Date | null => {
  if (expiresAt === undefined) return null
  const at = new Date(expiresAt)
  if (at <= now) return refuseExpiry(`is in the past: it is now ${now.toISOString()}`)
  return at.getTime() <= now.getTime() + LONGEST_LIFE
    ? at
    : refuseExpiry('is more than 100 years ahead; leave it out instead')
}

/** Whether a key outlives an idle session. */
const isLasting = (expires: Date | null, now: Date): boolean =>
  expires === null || expires.getTime() > now.getTime() + SESSION_MS

const refuseExpiry = (message: string): never => {
  throw new AppError('invalid_input', `expires_at ${message}`, {
    details: [{ path: 'expires_at', message }],
  })
}

export const keyHandlers: Handlers<typeof keys> = {
  create: loading(
    ({ belongs_to = 'me' }, { principal }) => {
      const personId = belongs_to === 'me' ? (principal.member?.personId ?? null) : null
      return {
        isStale: staleness(principal),
        living: many({}, countedKeys),
        owner: when(personId !== null, personPart(personId!)),
      }
    },
    (
      { name, scopes, belongs_to = 'me', expires_at },
      { gate, principal, tenantId },
      { isStale, living, owner },
    ) => {
      if (belongs_to === 'workspace' && !isOwner(principal))
        fail('forbidden', 'only owners can create workspace keys')
      const expires = expiryOf(expires_at, gate.now)
      if (isLasting(expires, gate.now)) requireFreshPassword(isStale)
      const personId = belongs_to === 'me' ? personOf(principal) : null
      requireRoomForKey(living, personId)
      const secret = newApiKey()
      const key = {
        ...keyRecord.blank,
        id: newId(),
        name: plainText(name),
        last4: secret.slice(-4),
        scopes: [...new Set(scopes)],
        person: owner ?? null,
        created_at: gate.now,
        expires_at: expires,
      }
      const more = { tenant_id: tenantId, hash: hashApiKey(secret), person_id: personId }
      const auditDetail = { name: key.name, scopes: key.scopes, last4: key.last4, belongs_to }
      return {
        reply: { key, api_key: secret },
        effects: { writes: [addKey(key, more)] },
        refId: key.id,
        auditDetail,
      }
    },
  ),

  async list(input, { read, principal }) {
    const page = pageOf(input)
    const of = isOwner(principal) ? undefined : personOf(principal)
    const { rows, next_cursor } = pageResult(await read(listKeys({ ...page, of })), page.limit)
    return { keys: rows, next_cursor }
  },

  async revoke({ id }, { sql, gate, principal }) {
    const key = await lockKey(sql, id)
    if (!key || !(isOwner(principal) || key.person?.id === personOf(principal)))
      return fail('not_found', 'no such key of yours')
    const ended = { ...key, revoked_at: key.revoked_at ?? gate.now }
    return {
      reply: { key: ended },
      effects: { writes: [endKey(id, gate.now)] },
      auditDetail: { name: key.name, last4: key.last4 },
    }
  },
}
