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
import type { Admitted, Handlers, SessionCookies, Visit, VisitContext } from '../call.ts'
import { pageOf, pageResult } from '../paging.ts'
import { requireAccount, requireOwnPassword, WRONG, WRONG_OWN } from '../password-check.ts'

type SignedIn = OutputOf<typeof session.signIn>
type Delivery = 'cookie' | 'body'

export const auditContextOf = ({ surface, requestId }: Visit, operation: string): AuditContext => ({ surface, requestId, operation })

/** Throws `unauthenticated`, which the edge has already done for every personal operation. */
export const signedInOf = ({ visit }: VisitContext): SessionGrant => visit.session ?? fail('unauthenticated')

const who = ({ id, person, workspace }: SessionGrant) => ({
  ...{ id, person, workspace: { id: workspace.id, name: workspace.name }, role: workspace.role },
})

const accessEnd = ({ expiresAt }: SessionGrant): Date => new Date(Math.min(Date.now() + ACCESS_MS, expiresAt.getTime()))

/** The tokens of a session, on the way that was asked for. */
const withTokens = async ({ identity: { tokens } }: VisitContext, grant: SessionGrant, delivery: Delivery): Promise<Admitted<SignedIn>> => {
  const { id, generation, expiresAt, person } = grant
  const access_expires_at = accessEnd(grant)
  const access = await tokens.access({ sessionId: id, personId: person.id }, access_expires_at)
  const refresh = tokens.refresh({ sessionId: id, generation })
  const reply = { ...who(grant), access_expires_at, expires_at: expiresAt }
  if (delivery === 'body') return { reply: { session: { ...reply, access_token: access, refresh_token: refresh } } }
  return { reply: { session: reply }, keep: { access, refresh, expiresAt } }
}

interface Beginning {
  personId: string
  /** Of the password that they have shown. */
  hash: string
  tenantId: string
  delivery: Delivery
  operation: string
}

/** Begins a session of a person who has shown who they are. Throws `unauthenticated` if their password was replaced meanwhile. */
export const begin = async (
  context: VisitContext,
  { personId, hash, tenantId, delivery, operation }: Beginning,
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
    : { ...admitted, keep: { ...(admitted.keep as SessionCookies), browser: knownFrom(context, personId) } }
}

/** The browser that was known for this person stays the same one: signing in often brings no more tries. */
const knownFrom = ({ identity: { tokens }, visit }: VisitContext, personId: string): SessionCookies['browser'] => {
  const before = tokens.readBrowser(visit.browser ?? '')
  const expiresAt = new Date(Date.now() + BROWSER_MS)
  return { token: tokens.browser({ personId, id: before?.personId === personId ? before.id : undefined }, expiresAt), expiresAt }
}

/** So soon after a refresh the token before it comes from another tab of the same browser. */
const TABS_MS = 10_000

const ENDED = 'the session has ended: sign in again'

/**
 * Goes on with a session by its refresh token. In a browser two tabs may send the same token at once: by cookie, the one that
 * comes second is given an access token alone, because the refresh token that the first was given is in the same browser. A
 * program that gives the token in the body keeps it in one place, so there is no such grace.
 */
const advance = async (
  { db, identity: { tokens }, visit }: VisitContext,
  { token, graceMs }: { token: string | undefined; graceMs: number },
): Promise<{ grant: SessionGrant; spent: boolean } | undefined> => {
  const claims = tokens.readRefresh(token ?? '')
  if (!claims) return undefined
  const spent = await advanceSession(db, { ...claims, graceMs }, visit)
  const grant = spent || graceMs > 0 ? await findSession(db, claims.sessionId) : undefined
  // Two generations on, it is no token of a moment ago.
  return grant?.generation === claims.generation + 1 ? { grant, spent } : undefined
}

/** By the cookie; undefined when the session has ended. */
export const goOn = async (context: VisitContext): Promise<{ grant: SessionGrant; keep: SessionCookies } | undefined> => {
  const { tokens } = context.identity
  const going = await advance(context, { token: context.visit.refreshToken, graceMs: TABS_MS })
  if (!going) return undefined
  const { grant, spent } = going
  const { id: sessionId, generation, expiresAt, person } = grant
  const access = await tokens.access({ sessionId, personId: person.id }, accessEnd(grant))
  return { grant, keep: { access, refresh: spent ? tokens.refresh({ sessionId, generation }) : undefined, expiresAt } }
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
    return begin(context, { personId: person.id, hash: person.hash, tenantId: place.id, delivery, operation: 'app.session.signIn' })
  },

  async refresh({ refresh_token: token }, context) {
    if (token !== undefined) {
      const going = (await advance(context, { token, graceMs: 0 })) ?? fail('unauthenticated', ENDED)
      return withTokens(context, going.grant, 'body')
    }
    const { grant, keep } = (await goOn(context)) ?? fail('unauthenticated', ENDED)
    return { reply: { session: { ...who(grant), access_expires_at: accessEnd(grant), expires_at: grant.expiresAt } }, keep }
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
    return { reply: { signed_out }, keep: 'nothing' }
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
    return { reply: { signed_out }, keep: id === own ? 'nothing' : undefined }
  },

  async signOutEverywhere(_, context) {
    const { person } = signedInOf(context)
    const signed_out = await endSessions(
      context.db,
      { personId: person.id },
      auditContextOf(context.visit, 'app.sessions.signOutEverywhere'),
    )
    return { reply: { signed_out }, keep: 'nothing' }
  },
}
