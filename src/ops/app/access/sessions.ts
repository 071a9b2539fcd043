/**
 * Sessions of people: how they begin, how their tokens are renewed, and how a personal operation
 * knows its own.
 */
import type { session } from '#contract/app/session'
import type { OutputOf } from '#contract/op'
import { ACCESS_MS, BROWSER_MS, SESSION_MS } from '#domain/app/person'
import { fail } from '#kernel/errors'
import { advanceSession, findSession, insertSession, type SessionGrant } from '#store/app/sessions'
import type { AuditContext } from '#store/engine/audit-entry'
import type { Admitted, SessionCookies, Visit, VisitContext } from '../../engine/call.ts'
import { WRONG } from './password-check.ts'

type SignedIn = OutputOf<typeof session.signIn>
type Delivery = 'cookie' | 'body'

export const auditContextOf = ({ surface, requestId }: Visit, operation: string): AuditContext => ({
  surface,
  requestId,
  operation,
})

/**
 * The session of a personal operation; the edge has already authenticated it. Throws
 * `unauthenticated`.
 */
export const signedInOf = ({ visit }: VisitContext): SessionGrant =>
  visit.session ?? fail('unauthenticated')

const LONGEST_AGENT = 300

export const who = ({ id, person, workspace }: SessionGrant) => ({
  id,
  person,
  workspace: { id: workspace.id, name: workspace.name },
  role: workspace.role,
})

export const accessEnd = ({ expiresAt }: SessionGrant): Date =>
  new Date(Math.min(Date.now() + ACCESS_MS, expiresAt.getTime()))

/** The session's tokens, in the body or in cookies. */
export const withTokens = async (
  { identity: { tokens } }: VisitContext,
  grant: SessionGrant,
  delivery: Delivery,
): Promise<Admitted<SignedIn>> => {
  const { id, generation, expiresAt, person } = grant
  const access_expires_at = accessEnd(grant)
  const access = await tokens.access({ sessionId: id, personId: person.id }, access_expires_at)
  const refresh = tokens.refresh({ sessionId: id, generation })
  const reply = { ...who(grant), access_expires_at, expires_at: expiresAt }
  if (delivery === 'body')
    return { reply: { session: { ...reply, access_token: access, refresh_token: refresh } } }
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

/**
 * Starts a session after the password check. Throws `unauthenticated` if the password has changed
 * since.
 */
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
    : {
        ...admitted,
        cookies: {
          ...(admitted.cookies as SessionCookies),
          browser: browserToken(context, personId),
        },
      }
}

/**
 * A browser already known for this person keeps its id: signing in repeatedly does not add
 * attempts.
 */
const browserToken = (
  { identity: { tokens }, visit }: VisitContext,
  personId: string,
): SessionCookies['browser'] => {
  const before = tokens.readBrowser(visit.browser ?? '')
  const expiresAt = new Date(Date.now() + BROWSER_MS)
  return {
    token: tokens.browser(
      { personId, id: before?.personId === personId ? before.id : undefined },
      expiresAt,
    ),
    expiresAt,
  }
}

/** Before an older secret key is dropped, known browsers get a token under the newest. */
const renewedBrowser = ({
  identity: { tokens },
  visit,
}: VisitContext): SessionCookies['browser'] => {
  const known = tokens.readBrowser(visit.browser ?? '')
  if (!known || known.isUnderNewest) return undefined
  return { token: tokens.browser(known, known.expiresAt), expiresAt: known.expiresAt }
}

/**
 * Within this time after a refresh, the previous token comes from another tab of the same browser.
 */
const TABS_MS = 10_000

/**
 * Spends a refresh token. Two browser tabs may send the same cookie at once: the second gets only
 * an access token, because the browser already has the new refresh token from the first. Programs,
 * which send the token in the body, get no such grace.
 */
export const spendRefreshToken = async (
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
export const continueSession = async (
  context: VisitContext,
): Promise<{ grant: SessionGrant; cookies: SessionCookies } | undefined> => {
  const { tokens } = context.identity
  const refreshed = await spendRefreshToken(context, {
    token: context.visit.refreshToken,
    graceMs: TABS_MS,
  })
  if (!refreshed) return undefined
  const { grant, spent } = refreshed
  const { id: sessionId, generation, expiresAt, person } = grant
  const access = await tokens.access({ sessionId, personId: person.id }, accessEnd(grant))
  return {
    grant,
    cookies: {
      access,
      refresh: spent ? tokens.refresh({ sessionId, generation }) : undefined,
      browser: renewedBrowser(context),
      expiresAt,
    },
  }
}
