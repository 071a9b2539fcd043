import type { session, sessions } from '#contract/app/session'
import type { OutputOf } from '#contract/op'
import { networkOf } from '#domain/network-of'
import { ACCESS_MS, emailKey, passwordLimits, SESSION_MS } from '#domain/person'
import { fail } from '#kernel/errors'
import { membershipsOf, passwordOf, personByEmail, setPassword } from '#store/people'
import {
  advanceSession,
  endSessions,
  findSession,
  insertSession,
  type ListedSession,
  listSessions,
  moveSession,
  type SessionGrant,
} from '#store/sessions'
import { type Counted, forgetTries, returnTry, takeTry } from '#store/throttle'
import type { Told } from '#store/told'
import type { Admitted, DoorContext, Handlers, Kept, Visit } from '../call.ts'
import { pageOf, pageResult } from '../paging.ts'

type SignedIn = OutputOf<typeof session.signIn>
export type Delivery = 'cookie' | 'body'

export const toldOf = ({ surface, requestId }: Visit, operation: string): Told => ({ surface, requestId, operation })

/** Whom a door lets in has a session. */
export const signedInOf = ({ visit }: DoorContext): SessionGrant => visit.session ?? fail('unauthenticated')

const who = ({ id, person, workspace }: SessionGrant) => ({
  ...{ id, person, workspace: { id: workspace.id, name: workspace.name }, role: workspace.role },
})

const accessEnd = ({ expiresAt }: SessionGrant): Date => new Date(Math.min(Date.now() + ACCESS_MS, expiresAt.getTime()))

/** The tokens of a session, on the way that was asked for. */
const withTokens = async ({ identity: { tokens } }: DoorContext, grant: SessionGrant, delivery: Delivery): Promise<Admitted<SignedIn>> => {
  const { id, generation, expiresAt, person } = grant
  const access_expires_at = accessEnd(grant)
  const access = await tokens.access({ sessionId: id, personId: person.id }, access_expires_at)
  const refresh = tokens.refresh({ sessionId: id, generation })
  const reply = { ...who(grant), access_expires_at, expires_at: expiresAt }
  if (delivery === 'body') return { reply: { session: { ...reply, access_token: access, refresh_token: refresh } } }
  return { reply: { session: reply }, keep: { access, refresh, expiresAt } }
}

/** Begins a session of a person who has shown who they are. */
export const begin = async (
  context: DoorContext,
  { personId, tenantId, delivery, operation }: { personId: string; tenantId: string; delivery: Delivery; operation: string },
): Promise<Admitted<SignedIn>> => {
  const { db, visit } = context
  const { userAgent, address } = visit
  const from = { userAgent: userAgent?.slice(0, LONGEST_AGENT) ?? null, address }
  const id = await insertSession(db, { personId, tenantId, kind: 'browser', ...from, lastsMs: SESSION_MS, told: toldOf(visit, operation) })
  const grant = id && (await findSession(db, id))
  return grant ? withTokens(context, grant, delivery) : fail('unauthenticated', WRONG)
}

/** So soon after a refresh the token before comes from another tab of the same browser. */
const TABS_MS = 10_000

/**
 * Goes on with the session of a browser whose access token is too old, by the refresh token of its cookie. Where another tab has
 * just done so, only the access token is new: the refresh token that tab was given is in the same browser. Undefined: it has ended.
 */
export const goOn = async ({ db, identity: { tokens }, visit }: DoorContext): Promise<Kept | undefined> => {
  const claims = tokens.readRefresh(visit.refreshToken ?? '')
  if (!claims) return undefined
  const advanced = await advanceSession(db, { ...claims, graceMs: TABS_MS }, visit)
  const grant = await findSession(db, claims.sessionId)
  const generation = claims.generation + 1
  if (grant?.generation !== generation) return undefined
  const access = await tokens.access({ sessionId: grant.id, personId: grant.person.id }, accessEnd(grant))
  return { access, refresh: advanced ? tokens.refresh({ sessionId: grant.id, generation }) : undefined, expiresAt: grant.expiresAt }
}

const LONGEST_AGENT = 300
/** The same for every way in which it can be wrong. */
export const WRONG = 'the email or the password is wrong'

const countedFor = (account: string, address: string): Counted[] => [
  { name: `password pair ${account} ${networkOf(address)}`, limit: passwordLimits.pair },
  { name: `password account ${account}`, limit: passwordLimits.account },
  { name: `password address ${networkOf(address)}`, limit: passwordLimits.address },
]

/** Compares a password, within limits that hold for accounts that exist and for others alike. Throws `unauthenticated`. */
export const requirePassword = async (
  { db, identity, visit }: DoorContext,
  { account, password, hash }: { account: string; password: string; hash: string | undefined },
): Promise<void> => {
  const counted = countedFor(account, visit.address)
  // Counted before it is known to be wrong: a thousand at once are a thousand tries.
  await takeTry(db, 'sign_in', counted)
  if (!(await identity.passwords.verify(password, { hash, party: networkOf(visit.address) }))) fail('unauthenticated', WRONG)
  await forgetTries(db, counted.slice(0, 1))
  await returnTry(db, counted.slice(1))
}

export const sessionHandlers: Handlers<typeof session> = {
  async signIn({ email, password, workspace_id, delivery = 'cookie' }, context) {
    const account = emailKey(email)
    const person = await personByEmail(context.db, account)
    await requirePassword(context, { account, password, hash: person?.hash })
    const places = await membershipsOf(context.db, person!.id)
    const place = workspace_id === undefined ? places[0] : places.find(({ id }) => id === workspace_id)
    if (!place) return fail('unauthenticated', WRONG)
    return begin(context, { personId: person!.id, tenantId: place.id, delivery, operation: 'app.session.signIn' })
  },

  async refresh({ refresh_token }, context) {
    const { db, identity, visit } = context
    const claims = identity.tokens.readRefresh(refresh_token ?? visit.refreshToken ?? '')
    const again = 'the session has ended: sign in again'
    if (!claims || !(await advanceSession(db, claims, visit))) return fail('unauthenticated', again)
    const grant = (await findSession(db, claims.sessionId)) ?? fail('unauthenticated', again)
    return withTokens(context, { ...grant, generation: claims.generation + 1 }, refresh_token === undefined ? 'cookie' : 'body')
  },

  async get(_, context) {
    const grant = signedInOf(context)
    return { reply: { session: { ...who(grant), workspaces: await membershipsOf(context.db, grant.person.id) } } }
  },

  async switchWorkspace({ workspace_id }, context) {
    const { id, person } = signedInOf(context)
    if (!(await moveSession(context.db, id, workspace_id))) return fail('not_found', 'no such workspace of yours')
    const grant = (await findSession(context.db, id)) ?? fail('unauthenticated')
    return { reply: { session: { ...who(grant), workspaces: await membershipsOf(context.db, person.id) } } }
  },

  async signOut(_, context) {
    const { id, person } = signedInOf(context)
    const signed_out = await endSessions(context.db, { personId: person.id, id }, toldOf(context.visit, 'app.session.signOut'))
    return { reply: { signed_out }, keep: 'nothing' }
  },

  async changePassword({ current_password, new_password }, context) {
    const { db, identity, visit } = context
    const { id, person } = signedInOf(context)
    const hash = await passwordOf(db, person.id)
    await requirePassword(context, { account: emailKey(person.email), password: current_password, hash })
    await setPassword(db, person.id, await identity.passwords.hash(new_password, networkOf(visit.address)))
    const told = toldOf(visit, 'app.session.changePassword')
    return { reply: { signed_out: await endSessions(db, { personId: person.id, except: id }, told) } }
  },
}

export const sessionsHandlers: Handlers<typeof sessions> = {
  async list(input, context) {
    const { id, person } = signedInOf(context)
    const page = pageOf(input)
    const { rows, next_cursor } = pageResult<ListedSession>(await listSessions(context.db, person.id, page), page.limit)
    return { reply: { sessions: rows.map((row) => ({ ...row, current: row.id === id })), next_cursor } }
  },

  async revoke({ id }, context) {
    const { id: own, person } = signedInOf(context)
    const signed_out = await endSessions(context.db, { personId: person.id, id }, toldOf(context.visit, 'app.sessions.revoke'))
    if (signed_out === 0) fail('not_found', 'no such session of yours')
    return { reply: { signed_out }, keep: id === own ? 'nothing' : undefined }
  },

  async signOutEverywhere(_, context) {
    const { person } = signedInOf(context)
    const signed_out = await endSessions(context.db, { personId: person.id }, toldOf(context.visit, 'app.sessions.signOutEverywhere'))
    return { reply: { signed_out }, keep: 'nothing' }
  },
}
