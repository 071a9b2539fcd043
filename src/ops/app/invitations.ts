import type { invitations } from '#contract/app/invitations'
import { invitationRecord } from '#contract/records/app/invitation'
import { networkOf } from '#domain/app/network-of'
import { requireGoodPassword } from '#domain/app/password'
import { emailKey, INVITATION_MS } from '#domain/app/person'
import { AppError, fail } from '#kernel/errors'
import { newId } from '#kernel/ids'
import { plainText } from '#kernel/plain-text'
import {
  acceptInvitation,
  type Invited,
  type NewAccount,
  openInvitation,
} from '#store/app/invitations'
import { isMember } from '#store/app/members'
import { candidatesFor, type SignInCandidate } from '#store/app/people'
import {
  addInvitation,
  listInvitations,
  lockInvitation,
  openInvitations,
  withdrawInvitation,
} from '#store/app/workspace-invitations'
import { when } from '#store/engine/load'
import { personOf } from '#store/engine/principal'
import type { Handlers, VisitContext } from '../engine/call.ts'
import { loading } from '../engine/loading.ts'
import { pageOf, pageResult } from '../engine/paging.ts'
import { hashOfLink, newLinkToken, tokenLink } from './access/links.ts'
import { accountOfJoiner, requireAccount } from './access/password-check.ts'
import { requireFreshPassword, staleness } from './access/reauthentication.ts'
import { beginSession } from './access/sessions.ts'

const NOT_OPEN = 'this invitation is no longer valid: it was accepted or withdrawn, or has expired'

const requireEmail = (): never => {
  throw new AppError('invalid_input', 'email is required', {
    details: [{ path: 'email', message: 'is required' }],
  })
}

/** An existing account, with the hash that its password was checked against. */
type Known = Pick<SignInCandidate, 'id' | 'hash'>
const knownAccount = ({ id, hash }: SignInCandidate): Known => ({ id, hash })

interface Joiner {
  email: string
  password: string
  name: string
}

/**
 * The account that joins: an existing one, or a new one to create.
 *
 * A link that the operator printed for an address verifies that address, because the operator gave
 * it to the address's owner. A link without an address verifies none: its holder could type
 * anybody's. Neither does an invitation made in a workspace: its owner could invite an address in
 * order to claim it. (`proves_email` of the invitation is ready for emailed links, which will
 * verify theirs.)
 *
 * A link that verifies the address can only join an account that has already verified it, by its
 * password. Unverified accounts with the address are ignored even if the password matches: a
 * squatter may have told the owner that password, and would then share the account. Nothing of such
 * an account is taken over: neither its password, sessions nor workspaces.
 *
 * With any other link, a password that matches no account creates a new one, whether or not others
 * have the address. This keeps nobody out, and reveals nobody's account.
 */
const resolveJoiner = async (
  context: VisitContext,
  { provesEmail }: Invited,
  joiner: Joiner,
): Promise<Known | NewAccount> => {
  const { email, password, name } = joiner
  const account = emailKey(email)
  const accounts = await candidatesFor(context.db, { emailKey: account })
  const verified = accounts.filter(({ email_status }) => email_status === 'verified')
  if (provesEmail && verified.length > 0)
    return knownAccount(await requireAccount(context, { email, password, accounts: verified }))
  const known = provesEmail
    ? undefined
    : await accountOfJoiner(context, { email, password, accounts })
  if (known) return knownAccount(known)
  requireGoodPassword(password, { email, path: 'password' })
  const hash = await context.identity.passwords.hash(password, networkOf(context.visit.address))
  return { id: newId(), email: plainText(email), emailKey: account, name: plainText(name), hash }
}

const NOT_JOINED = {
  spent: 'the invitation has been accepted in the meantime',
  taken:
    'a member of this workspace has this email and a different password: sign in, or enter that password',
}

/** The invitation of a link. Throws `not_found`. */
export const findInvitation = async (db: VisitContext['db'], token: string): Promise<Invited> =>
  (await openInvitation(db, hashOfLink(token))) ?? fail('not_found', NOT_OPEN)

/** Open invitations of one workspace. */
const MAX_OPEN = 200

type All = Handlers<typeof invitations>

const create = (publicUrl: string): All['create'] =>
  loading(
    ({ email, role }, { principal }) => ({
      isStale: when(role === 'owner', staleness(principal)),
      isTaken: when(email !== undefined, isMember(emailKey(email ?? ''))),
      open: openInvitations,
    }),
    ({ email, role }, { gate, principal }, { isStale, isTaken, open }) => {
      requireFreshPassword(isStale)
      if (isTaken) fail('conflict', 'a member already has this email', { reason: 'duplicate' })
      if (open >= MAX_OPEN)
        fail('conflict', `${MAX_OPEN} invitations are open: withdraw one first`, {
          reason: 'limit_reached',
        })
      const token = newLinkToken('inv')
      const expires_at = new Date(gate.now.getTime() + INVITATION_MS)
      const address = email === undefined ? null : plainText(email)
      const invitation = {
        ...invitationRecord.blank,
        id: newId(),
        email: address,
        role,
        status: 'open' as const,
        invited_by: personOf(principal),
        created_at: gate.now,
        expires_at,
      }
      const effects = { writes: [addInvitation(invitation, hashOfLink(token))] }
      return {
        reply: { invitation, url: tokenLink(publicUrl, 'join', token) },
        effects,
        refId: invitation.id,
        auditDetail: { email: address, role },
      }
    },
  )

const revoke: All['revoke'] = async ({ id }, { sql, gate }) => {
  const invitation = (await lockInvitation(sql, id)) ?? fail('not_found', 'no such invitation')
  if (invitation.status === 'accepted')
    fail('conflict', 'cannot withdraw: the invitation was accepted', { reason: 'wrong_state' })
  if (invitation.status === 'revoked') return { reply: { invitation } }
  const revoked = { ...invitation, status: 'revoked' as const, revoked_at: gate.now }
  return { reply: { invitation: revoked }, effects: { writes: [withdrawInvitation(id, gate.now)] } }
}

const accept: All['accept'] = async (
  { token, email, password, name = '', delivery = 'cookie' },
  context,
) => {
  const invitation = await findInvitation(context.db, token)
  // The invited email wins over a typed one.
  const address = invitation.email ?? email ?? requireEmail()
  const person = await resolveJoiner(context, invitation, { email: address, password, name })
  const { surface, requestId } = context.visit
  const accepted = await acceptInvitation(context.db, { invitation, person, surface, requestId })
  if (accepted !== 'joined')
    fail('conflict', NOT_JOINED[accepted], {
      reason: accepted === 'taken' ? 'duplicate' : 'wrong_state',
    })
  return beginSession(context, {
    personId: person.id,
    hash: person.hash,
    tenantId: invitation.tenantId,
    delivery,
    operation: 'app.session.signIn',
  })
}

export const invitationHandlers = (publicUrl: string): All => ({
  create: create(publicUrl),

  async list(input, { read }) {
    const page = pageOf(input)
    const { rows, next_cursor } = pageResult(await read(listInvitations(page)), page.limit)
    return { invitations: rows, next_cursor }
  },

  revoke,
  accept,
})
