import type { session, sessions } from '#contract/app/session'
import { networkOf } from '#domain/app/network-of'
import { requireGoodPassword } from '#domain/app/password'
import { emailKey, PASSWORD_FRESH_MS } from '#domain/app/person'
import { fail } from '#kernel/errors'
import { candidatesFor, membershipsOf, setPassword } from '#store/app/people'
import {
  confirmSession,
  endSessions,
  findSession,
  type ListedSession,
  listSessions,
  moveSession,
} from '#store/app/sessions'
import type { Handlers, VisitContext } from '../engine/call.ts'
import { pageOf, pageResult } from '../engine/paging.ts'
import { requireAccount, requireOwnPassword, WRONG, WRONG_OWN } from './access/password-check.ts'
import {
  accessEnd,
  auditContextOf,
  beginSession,
  continueSession,
  signedInOf,
  spendRefreshToken,
  who,
  withTokens,
} from './access/sessions.ts'

const ENDED = 'the session has ended: sign in again'

/** A browser sends the cookie with requests of any page. Throws `forbidden`. */
const requireOwnPage = ({ visit: { refreshToken, isOwnPage } }: VisitContext): void => {
  if (refreshToken !== undefined && !isOwnPage)
    fail('forbidden', 'requests with cookies must come from a page of this deployment')
}

export const sessionHandlers: Handlers<typeof session> = {
  async signIn({ email, password, workspace_id, delivery = 'cookie' }, context) {
    const browser = context.identity.tokens.readBrowser(context.visit.browser ?? '')
    const sought = {
      emailKey: emailKey(email),
      tenantId: workspace_id,
      personId: browser?.personId,
    }
    const accounts = await candidatesFor(context.db, sought)
    const person = await requireAccount(context, { email, password, accounts, browser })
    const places = await membershipsOf(context.db, person.id)
    const place =
      workspace_id === undefined ? places[0] : places.find(({ id }) => id === workspace_id)
    if (!place) return fail('unauthenticated', WRONG)
    return beginSession(context, {
      personId: person.id,
      hash: person.hash,
      tenantId: place.id,
      delivery,
      operation: 'app.session.signIn',
    })
  },

  async refresh({ refresh_token: token }, context) {
    if (token !== undefined) {
      const refreshed =
        (await spendRefreshToken(context, { token, graceMs: 0 })) ?? fail('unauthenticated', ENDED)
      return withTokens(context, refreshed.grant, 'body')
    }
    requireOwnPage(context)
    const { grant, cookies } = (await continueSession(context)) ?? fail('unauthenticated', ENDED)
    return {
      reply: {
        session: {
          ...who(grant),
          access_expires_at: accessEnd(grant),
          expires_at: grant.expiresAt,
        },
      },
      cookies,
    }
  },

  async get(_, context) {
    const grant = signedInOf(context)
    return {
      reply: {
        session: { ...who(grant), workspaces: await membershipsOf(context.db, grant.person.id) },
      },
    }
  },

  async switchWorkspace({ workspace_id }, context) {
    const { id, person } = signedInOf(context)
    if (!(await moveSession(context.db, id, workspace_id)))
      return fail('not_found', 'no such workspace of yours')
    const grant = (await findSession(context.db, id)) ?? fail('unauthenticated')
    return {
      reply: { session: { ...who(grant), workspaces: await membershipsOf(context.db, person.id) } },
    }
  },

  async signOut(_, context) {
    const { id, person } = signedInOf(context)
    const signed_out = await endSessions(
      context.db,
      { personId: person.id, id },
      auditContextOf(context.visit, 'app.session.signOut'),
    )
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
    return {
      reply: { signed_out: await endSessions(db, { personId: person.id, except: id }, audit) },
    }
  },

  async confirm({ current_password }, context) {
    const { id, person } = signedInOf(context)
    await requireOwnPassword(context, person, current_password)
    const until =
      (await confirmSession(context.db, id, PASSWORD_FRESH_MS)) ?? fail('unauthenticated')
    return { reply: { confirmed: { until } } }
  },
}

export const sessionsHandlers: Handlers<typeof sessions> = {
  async list(input, context) {
    const { id, person } = signedInOf(context)
    const page = pageOf(input)
    const { rows, next_cursor } = pageResult<ListedSession>(
      await listSessions(context.db, person.id, page),
      page.limit,
    )
    return {
      reply: { sessions: rows.map((row) => ({ ...row, current: row.id === id })), next_cursor },
    }
  },

  async revoke({ id }, context) {
    const { id: own, person } = signedInOf(context)
    const signed_out = await endSessions(
      context.db,
      { personId: person.id, id },
      auditContextOf(context.visit, 'app.sessions.revoke'),
    )
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
