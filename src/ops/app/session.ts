import type { session, sessions } from '#contract/app/session'
import type { OutputOf } from '#contract/op'
import { networkOf } from '#domain/app/network-of'
import { requireGoodPassword } from '#domain/app/password'
import { ACCESS_MS, BROWSER_MS, emailKey, PASSWORD_FRESH_MS, SESSION_MS } from '#domain/app/person'
import { fail } from '#kernel/errors'
import { candidatesFor, membershipsOf, setPassword } from '#store/app/people'
import {
  advanceSession,
  confirmSession,
  endSessions,
  findSession,
  insertSession,
  type ListedSession,
  listSessions,
  moveSession,
  type SessionGrant,
} from '#store/app/sessions'
import type { AuditContext } from '#store/engine/audit-entry'
import type { Admitted, Handlers, SessionCookies, Visit, VisitContext } from '../engine/call.ts'
import { pageOf, pageResult } from '../engine/paging.ts'
import { requireAccount, requireOwnPassword, WRONG, WRONG_OWN } from './access/password-check.ts'

type SignedIn = OutputOf<typeof session.signIn>
type Delivery = 'cookie' | 'body'

export const auditContextOf = ({ surface, requestId }: Visit, operation: string): AuditContext => ({ surface, requestId, operation })

/** The session of a personal operation; the edge has already authenticated it. Throws `unauthenticated`. */
export const signedInOf = ({ visit }: VisitContext): SessionGrant => visit.session ?? fail('unauthenticated')

const who = ({ id, person, workspace }: SessionGrant) => ({
  ...{ id, person, workspace: { id: workspace.id, name: workspace.name }, role: workspace.role },
})

const accessEnd = ({ expiresAt }: SessionGrant): Date => new Date(Math.min(Date.now() + ACCESS_MS, expiresAt.getTime()))

/** The session's tokens, in the body or in cookies. */
const withTokens = async ({ identity: { tokens } }: VisitContext, grant: SessionGrant, delivery: Delivery): Promise<Admitted<SignedIn>> => {
  const { id, generation, expiresAt, person } = grant
  const access_expires_at = accessEnd(grant)
  const access = await tokens.access({ sessionId: id, personId: person.id }, access_expires_at)
  const refresh = tokens.refresh({ sessionId: id, generation })
  const reply = { ...who(grant), access_expires_at, expires_at: expiresAt }
  if (delivery === 'body') return { reply: { session: { ...reply, access_token: access, refresh_token: refresh } } }
  return { reply: { session: reply }, cookies: { access, refresh, expiresAt } }
}

interface NewSession {
  personId: string
  /** The hash that the password was checked against. */
  hash: string
  tenantId: string
  delivery: Delivery
  operation: string
}

/** Starts a session after the password check. Throws `unauthenticated` if the password has changed since. */
export const beginSession = async (
  context: VisitContext,
  { personId, hash, tenantId, delivery, operation }: NewSession,
): Promise<Admitted<SignedIn>> => {
  const { db, visit } = context
  const { userAgent, address } = visit
  const from = { userAgent: userAgent?.slice(0, LONGEST_AGENT) ?? null, address }
  const id = await insertSession(db, {
    personId,
    hash,
    tenantId,
    kind: 'browser',
    ...from,
    lastsMs: SESSION_MS,
    audit: auditContextOf(visit, operation),
  })
  const grant = id && (await findSession(db, id))
  if (!grant) return fail('unauthenticated', WRONG)
  const admitted = await withTokens(context, grant, delivery)
  return delivery === 'body'
    ? admitted
    : { ...admitted, cookies: { ...(admitted.cookies as SessionCookies), browser: browserToken(context, personId) } }
}

/** A browser already known for this person keeps its id: signing in repeatedly does not add attempts. */
const browserToken = ({ identity: { tokens }, visit }: VisitContext, personId: string): SessionCookies['browser'] => {
  const before = tokens.readBrowser(visit.browser ?? '')
  const expiresAt = new Date(Date.now() + BROWSER_MS)
  return { token: tokens.browser({ personId, id: before?.personId === personId ? before.id : undefined }, expiresAt), expiresAt }
}

/** Within this time after a refresh, the previous token comes from another tab of the same browser. */
const TABS_MS = 10_000

const ENDED = 'the session has ended: sign in again'

/**
 * Spends a refresh token. Two browser tabs may send the same cookie at once: the second gets only an access token, because the
 * browser already has the new refresh token from the first. Programs, which send the token in the body, get no such grace.
 */
const spendRefreshToken = async (
  { db, identity: { tokens }, visit }: VisitContext,
  { token, graceMs }: { token: string | undefined; graceMs: number },
): Promise<{ grant: SessionGrant; spent: boolean } | undefined> => {
  const claims = tokens.readRefresh(token ?? '')
  if (!claims) return undefined
  const spent = await advanceSession(db, { ...claims, graceMs }, visit)
  const grant = spent || graceMs > 0 ? await findSession(db, claims.sessionId) : undefined
  // The grace covers only the previous generation.
  return grant?.generation === claims.generation + 1 ? { grant, spent } : undefined
}

/** Continues a session by its refresh cookie. Undefined if the session has ended. */
export const continueSession = async (context: VisitContext): Promise<{ grant: SessionGrant; cookies: SessionCookies } | undefined> => {
  const { tokens } = context.identity
  const refreshed = await spendRefreshToken(context, { token: context.visit.refreshToken, graceMs: TABS_MS })
  if (!refreshed) return undefined
  const { grant, spent } = refreshed
  const { id: sessionId, generation, expiresAt, person } = grant
  const access = await tokens.access({ sessionId, personId: person.id }, accessEnd(grant))
  return { grant, cookies: { access, refresh: spent ? tokens.refresh({ sessionId, generation }) : undefined, expiresAt } }
}

/** A browser sends the cookie with requests of any page. Throws `forbidden`. */
const requireOwnPage = ({ visit: { refreshToken, isOwnPage } }: VisitContext): void => {
  if (refreshToken !== undefined && !isOwnPage) fail('forbidden', 'requests with cookies must come from a page of this deployment')
}

const LONGEST_AGENT = 300
export const sessionHandlers: Handlers<typeof session> = {
  async signIn({ email, password, workspace_id, delivery = 'cookie' }, context) {
    const browser = context.identity.tokens.readBrowser(context.visit.browser ?? '')
    const sought = { emailKey: emailKey(email), tenantId: workspace_id, personId: browser?.personId }
    const accounts = await candidatesFor(context.db, sought)
    const person = await requireAccount(context, { email, password, accounts, browser })
    const places = await membershipsOf(context.db, person.id)
    const place = workspace_id === undefined ? places[0] : places.find(({ id }) => id === workspace_id)
    if (!place) return fail('unauthenticated', WRONG)
    return beginSession(context, { personId: person.id, hash: person.hash, tenantId: place.id, delivery, operation: 'app.session.signIn' })
  },

  async refresh({ refresh_token: token }, context) {
    if (token !== undefined) {
      const refreshed = (await spendRefreshToken(context, { token, graceMs: 0 })) ?? fail('unauthenticated', ENDED)
      return withTokens(context, refreshed.grant, 'body')
    }
    requireOwnPage(context)
    const { grant, cookies } = (await continueSession(context)) ?? fail('unauthenticated', ENDED)
    return { reply: { session: { ...who(grant), access_expires_at: accessEnd(grant), expires_at: grant.expiresAt } }, cookies }
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
    const signed_out = await endSessions(context.db, { personId: person.id, id }, auditContextOf(context.visit, 'app.session.signOut'))
    return { reply: { signed_out }, cookies: 'clear' }
  },

  async changePassword({ current_password, new_password }, context) {
    const { db, identity, visit } = context
    const { id, person } = signedInOf(context)
    const from = await requireOwnPassword(context, person, current_password)
    requireGoodPassword(new_password, { email: person.email, path: 'new_password' })
    const to = await identity.passwords.hash(new_password, networkOf(visit.address))
    if (!(await setPassword(db, person.id, { from, to }))) fail('unauthenticated', WRONG_OWN)
    const audit = auditContextOf(visit, 'app.session.changePassword')
    return { reply: { signed_out: await endSessions(db, { personId: person.id, except: id }, audit) } }
  },

  async confirm({ current_password }, context) {
    const { id, person } = signedInOf(context)
    await requireOwnPassword(context, person, current_password)
    const until = (await confirmSession(context.db, id, PASSWORD_FRESH_MS)) ?? fail('unauthenticated')
    return { reply: { confirmed: { until } } }
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
    const signed_out = await endSessions(context.db, { personId: person.id, id }, auditContextOf(context.visit, 'app.sessions.revoke'))
    if (signed_out === 0) fail('not_found', 'no such session of yours')
    return { reply: { signed_out }, cookies: id === own ? 'clear' : undefined }
  },

  async signOutEverywhere(_, context) {
    const { person } = signedInOf(context)
    const signed_out = await endSessions(
      context.db,
      { personId: person.id },
      auditContextOf(context.visit, 'app.sessions.signOutEverywhere'),
    )
    return { reply: { signed_out }, cookies: 'clear' }
  },
}
