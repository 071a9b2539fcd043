/** Devices that ask to be let in (RFC 8628): how they ask and are answered, and how a person decides. */
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
import type { Handlers, VisitContext } from '../call.ts'
import { requireRoomForKey } from './keys.ts'
import { auditContextOf, signedInOf } from './session.ts'

const hashOf = (secret: string): Buffer => createHash('sha256').update(secret).digest()

const newUserCode = (): string => Array.from({ length: CODE_LENGTH }, () => CODE_LETTERS[randomInt(CODE_LETTERS.length)]).join('')

export interface Asking {
  clientId: string
  scopes: DeviceScope[]
  /** As the device tells it. */
  name: string
}

export interface DeviceCodes {
  deviceCode: string
  /** As it is shown. */
  userCode: string
}

/** Of some 25 thousand million codes another one is hardly ever taken twice in a row. */
const CODE_TRIES = 3

/** Begins a request. Throws `rate_limited` for an address that asks too often, and `unavailable` when too many wait. */
export const askForDevice = async ({ db, visit }: VisitContext, { clientId, scopes, name }: Asking): Promise<DeviceCodes> => {
  await takeTry(db, 'device_request', [{ name: `device request ${networkOf(visit.address)}`, limit: requestLimit }])
  const deviceCode = randomBytes(32).toString('base64url')
  for (let tries = 0; tries < CODE_TRIES; tries++) {
    const code = newUserCode()
    const hashes = { deviceHash: hashOf(deviceCode), userHash: hashOf(code) }
    const state = await insertGrant(db, { ...hashes, clientId, scopes, name: deviceName(name), address: visit.address })
    if (state === 'waits') return { deviceCode, userCode: writeUserCode(code) }
    if (state === 'full') break
  }
  return fail('unavailable', 'too many devices are waiting for approval; try again in a minute', { retryAfter: 60 })
}

/** What a device acts by from now on. */
export interface Token {
  accessToken: string
  scopes: DeviceScope[]
  workspace: Issued['workspace']
  /** Of a session; a key lasts until it is revoked. */
  expiresInS?: number
}

type Refused = Exclude<PollResult['state'], 'issued'>

/** The token, once, when a person has approved; else why not. The key is made at this moment: it never rests anywhere but at the device. */
export const tokenForDevice = async (
  { db, identity, visit }: VisitContext,
  { deviceCode, clientId }: { deviceCode: string; clientId: string },
): Promise<Token | Refused> => {
  const key = newApiKey()
  const polled = await pollGrant(db, {
    ...{ deviceHash: hashOf(deviceCode), clientId, leewayS: POLL_LEEWAY_S, slowerS: SLOWER_S, sessionMs: DEVICE_SESSION_MS },
    key: { hash: hashApiKey(key), last4: key.slice(-4) },
    from: visit,
  })
  if (polled.state !== 'issued') return polled.state
  const { scopes, workspace, session, personId } = polled
  if (!session) return { accessToken: key, scopes, workspace }
  const accessToken = await identity.tokens.access({ sessionId: session.id, personId }, session.expiresAt)
  return { accessToken, scopes, workspace, expiresInS: session.lastsS }
}

/** Ends a key, or the session of a token: whoever holds it may. Nothing to do for what is unknown. */
export const revokeHeld = async ({ db, identity, visit }: VisitContext, token: string): Promise<void> => {
  const audit = { ...auditContextOf(visit, 'app.device.revoke'), surface: 'cli' }
  if (isApiKey(token)) return void (await revokeHeldKey(db, hashApiKey(token), audit))
  const claims = (await identity.tokens.readAccess(token)) ?? identity.tokens.readRefresh(token)
  if (claims) await endHeldSession(db, claims.sessionId, audit)
}

const countedFor = ({ person }: SessionGrant, address: string): Throttled[] => [
  { name: `device code address ${networkOf(address)}`, limit: codeLimits.address },
  { name: `device code person ${person.id}`, limit: codeLimits.person },
]

/** The same for a code that never was, was decided on, or is too old. */
const NO_SUCH = 'no device is waiting with this code: it may be mistyped, used or expired'

/** Throws `not_found`, and `rate_limited` after a few wrong codes. Wrong ones stay counted, whatever right ones come between. */
const waitingUnder = async ({ db, visit }: VisitContext, grant: SessionGrant, typed: string): Promise<PendingGrant & { code: string }> => {
  const counted = countedFor(grant, visit.address)
  await takeTry(db, 'device_code', counted)
  const code = readUserCode(typed)
  const waiting = code === undefined ? undefined : await findPendingGrant(db, hashOf(code))
  if (code === undefined || !waiting) return fail('not_found', NO_SUCH)
  await returnTry(db, counted)
  return { ...waiting, code }
}

const placeOf = ({ workspace: { id, name } }: SessionGrant) => ({ id, name })

export const deviceHandlers: Handlers<typeof device> = {
  async find({ user_code }, context) {
    const grant = signedInOf(context)
    const { code, ...waiting } = await waitingUnder(context, grant, user_code)
    const { role } = grant.workspace
    const may = { grantable: grantable(waiting.scopes, role), workspace: placeOf(grant), role }
    return { reply: { request: { user_code: writeUserCode(code), ...waiting, ...may } } }
  },

  async decide({ user_code, decision, workspace_id }, context) {
    const grant = signedInOf(context)
    const { code, scopes } = await waitingUnder(context, grant, user_code)
    const { workspace, person } = grant
    // It lasts an hour: one that let others in would go on by itself.
    if (grant.kind === 'command_line') fail('forbidden', 'only a session that signed in with a password can approve devices')
    if (workspace_id !== undefined && workspace_id !== workspace.id)
      fail('conflict', 'you have switched to another workspace: review the request again')
    const granted = decision === 'approve' ? grantable(scopes, workspace.role) : []
    if (decision === 'approve' && granted.length === 0) fail('forbidden', `the role ${workspace.role} can grant none of these scopes`)
    if (granted.some(isScope)) await requireRoomForKey((query) => context.db.read({ tenantId: workspace.id }, query), person.id)
    const audit = auditContextOf(context.visit, 'app.device.decide')
    const decided = { userHash: hashOf(code), decision, granted, personId: person.id, tenantId: workspace.id, sessionId: grant.id, audit }
    if (!(await decideGrant(context.db, decided))) fail('not_found', NO_SUCH)
    return { reply: { device: { decision, scopes: granted, workspace: placeOf(grant) } } }
  },
}
