/** Device authorization (RFC 8628): requests of devices, and the decisions of people. */
import { createHash, randomBytes, randomInt } from 'node:crypto'
import type { device } from '#contract/app/device'
import {
  CODE_LENGTH,
  CODE_LETTERS,
  codeLimits,
  DEVICE_SESSION_MS,
  type DeviceScope,
  deviceName,
  grantable,
  POLL_LEEWAY_S,
  readUserCode,
  requestLimit,
  SLOWER_S,
  writeUserCode,
} from '#domain/app/device'
import { networkOf } from '#domain/app/network-of'
import { hashApiKey, isApiKey, newApiKey } from '#kernel/api-key'
import { fail } from '#kernel/errors'
import { isScope } from '#kernel/scopes'
import {
  decideGrant,
  findPendingGrant,
  type Issued,
  insertGrant,
  type PendingGrant,
  type PollResult,
  pollGrant,
  revokeHeldKey,
} from '#store/app/device'
import { endHeldSession, type SessionGrant } from '#store/app/sessions'
import { returnTry, type Throttled, takeTry } from '#store/app/throttle'
import type { Handlers, VisitContext } from '../engine/call.ts'
import { auditContextOf, signedInOf } from './access/sessions.ts'
import { countedKeys, requireRoomForKey } from './keys.ts'

const hashOf = (secret: string): Buffer => createHash('sha256').update(secret).digest()

const newUserCode = (): string =>
  Array.from({ length: CODE_LENGTH }, () => CODE_LETTERS[randomInt(CODE_LETTERS.length)]).join('')

export interface DeviceAuthorization {
  clientId: string
  scopes: DeviceScope[]
  /** The name that the device gives itself. */
  name: string
}

export interface DeviceCodes {
  deviceCode: string
  /** As shown to the person. */
  userCode: string
}

/** There are some 25 billion codes, so collisions are rare. */
const CODE_TRIES = 3

/**
 * Starts a request. Throws `rate_limited` if the address starts too many, `unavailable` if too many
 * are waiting.
 */
export const authorizeDevice = async (
  { db, visit }: VisitContext,
  { clientId, scopes, name }: DeviceAuthorization,
): Promise<DeviceCodes> => {
  await takeTry(db, 'device_request', [
    { name: `device request ${networkOf(visit.address)}`, limit: requestLimit },
  ])
  const deviceCode = randomBytes(32).toString('base64url')
  for (let tries = 0; tries < CODE_TRIES; tries++) {
    const code = newUserCode()
    const hashes = { deviceHash: hashOf(deviceCode), userHash: hashOf(code) }
    const state = await insertGrant(db, {
      ...hashes,
      clientId,
      scopes,
      name: deviceName(name),
      address: visit.address,
    })
    if (state === 'waits') return { deviceCode, userCode: writeUserCode(code) }
    if (state === 'full') break
  }
  return fail('unavailable', 'too many devices are waiting for approval; try again in a minute', {
    retryAfter: 60,
  })
}

export interface Token {
  accessToken: string
  scopes: DeviceScope[]
  workspace: Issued['workspace']
  /** Set for a session; an API key lasts until revoked. */
  expiresInS?: number
}

type Refused = Exclude<PollResult['state'], 'issued'>

/**
 * The token, once a person has approved; otherwise the state of the request. The key is created
 * here and stored only as a hash.
 */
export const tokenForDevice = async (
  { db, identity, visit }: VisitContext,
  { deviceCode, clientId }: { deviceCode: string; clientId: string },
): Promise<Token | Refused> => {
  const key = newApiKey()
  const polled = await pollGrant(db, {
    deviceHash: hashOf(deviceCode),
    clientId,
    leewayS: POLL_LEEWAY_S,
    slowerS: SLOWER_S,
    sessionMs: DEVICE_SESSION_MS,
    key: { hash: hashApiKey(key), last4: key.slice(-4) },
    from: visit,
  })
  if (polled.state !== 'issued') return polled.state
  const { scopes, workspace, session, personId } = polled
  if (!session) return { accessToken: key, scopes, workspace }
  const accessToken = await identity.tokens.access(
    { sessionId: session.id, personId },
    session.expiresAt,
  )
  return { accessToken, scopes, workspace, expiresInS: session.lastsS }
}

/**
 * Revokes a key, or ends the session of a token. The token itself is the permission. Ignores
 * unknown tokens.
 */
export const revokeToken = async (
  { db, identity, visit }: VisitContext,
  token: string,
): Promise<void> => {
  const audit = { ...auditContextOf(visit, 'app.device.revoke'), surface: 'cli' }
  if (isApiKey(token)) return void (await revokeHeldKey(db, hashApiKey(token), audit))
  const claims = (await identity.tokens.readAccess(token)) ?? identity.tokens.readRefresh(token)
  if (claims) await endHeldSession(db, claims.sessionId, audit)
}

const codeCounters = ({ person }: SessionGrant, address: string): Throttled[] => [
  { name: `device code address ${networkOf(address)}`, limit: codeLimits.address },
  { name: `device code person ${person.id}`, limit: codeLimits.person },
]

/** One message for codes that are unknown, used or expired. */
const NO_SUCH = 'no device is waiting with this code: it may be mistyped, used or expired'

/**
 * Throws `not_found`, or `rate_limited` after several wrong codes. A right code does not reset the
 * count.
 */
const waitingUnder = async (
  { db, visit }: VisitContext,
  grant: SessionGrant,
  typed: string,
): Promise<PendingGrant & { code: string }> => {
  const counted = codeCounters(grant, visit.address)
  await takeTry(db, 'device_code', counted)
  const code = readUserCode(typed)
  const waiting = code === undefined ? undefined : await findPendingGrant(db, hashOf(code))
  if (code === undefined || !waiting) return fail('not_found', NO_SUCH)
  await returnTry(db, counted)
  return { ...waiting, code }
}

const workspaceName = ({ workspace: { id, name } }: SessionGrant) => ({ id, name })

export const deviceHandlers: Handlers<typeof device> = {
  async find({ user_code }, context) {
    const grant = signedInOf(context)
    const { code, ...waiting } = await waitingUnder(context, grant, user_code)
    const { role } = grant.workspace
    const may = {
      grantable: grantable(waiting.scopes, role),
      workspace: workspaceName(grant),
      role,
    }
    return { reply: { request: { user_code: writeUserCode(code), ...waiting, ...may } } }
  },

  async decide({ user_code, decision, workspace_id }, context) {
    const grant = signedInOf(context)
    const { code, scopes } = await waitingUnder(context, grant, user_code)
    const { workspace, person } = grant
    // Such a session lasts an hour. If it could approve devices, it could prolong itself for ever.
    if (grant.kind === 'command_line')
      fail('forbidden', 'only a session that signed in with a password can approve devices')
    if (workspace_id !== undefined && workspace_id !== workspace.id)
      fail('conflict', 'you have switched to another workspace: review the request again', {
        reason: 'other_workspace',
      })
    const granted = decision === 'approve' ? grantable(scopes, workspace.role) : []
    if (decision === 'approve' && granted.length === 0)
      fail('forbidden', `the role ${workspace.role} can grant none of these scopes`)
    if (granted.some(isScope))
      requireRoomForKey(await context.db.read({ tenantId: workspace.id }, countedKeys), person.id)
    const audit = auditContextOf(context.visit, 'app.device.decide')
    const decided = {
      userHash: hashOf(code),
      decision,
      granted,
      personId: person.id,
      tenantId: workspace.id,
      sessionId: grant.id,
      audit,
    }
    if (!(await decideGrant(context.db, decided))) fail('not_found', NO_SUCH)
    return { reply: { device: { decision, scopes: granted, workspace: workspaceName(grant) } } }
  },
}
