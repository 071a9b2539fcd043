import type { invitations } from '#contract/app/invitations'
import { networkOf } from '#domain/app/network-of'
import { requireGoodPassword } from '#domain/app/password'
import { emailKey, INVITATION_MS } from '#domain/app/person'
import { AppError, fail } from '#kernel/errors'
import { newId } from '#kernel/ids'
import { plainText } from '#kernel/plain-text'
import { acceptInvitation, type Invited, type NewAccount, openInvitation } from '#store/app/invitations'
import { isMember } from '#store/app/members'
import { candidatesFor, type SignInCandidate } from '#store/app/people'
import {
  addInvitation,
  countOpenInvitations,
  type InvitationRow,
  listInvitations,
  lockInvitation,
  withdrawInvitation,
} from '#store/app/workspace-invitations'
import type { Sql } from '#store/engine/db'
import { personOf } from '#store/engine/principal'
import type { Handlers, VisitContext } from '../call.ts'
import { hashOfLink, linkTo, newLinkToken } from '../links.ts'
import { pageOf, pageResult } from '../paging.ts'
import { accountOfJoiner, requireAccount } from '../password-check.ts'
import { requireFreshPassword } from '../reauthentication.ts'
import { begin } from './session.ts'

const NOT_OPEN = 'this invitation is not open: it was accepted, withdrawn, or is too old'

const needEmail = (): never => {
  throw new AppError('invalid_input', 'email is required', { details: [{ path: 'email', message: 'is required' }] })
}

/** An account that there is, and the hash of the password that was shown. */
type Known = Pick<SignInCandidate, 'id' | 'hash'>
const knownAs = ({ id, hash }: SignInCandidate): Known => ({ id, hash })

interface Comer {
  email: string
  password: string
  name: string
}

/**
 * Who it is that comes by an invitation: an account that there is, or one to be made.
 *
 * An address is proven by a link that the operator of the deployment printed for this very address: whoever holds it was given
 * it as its owner. A link for no address in particular proves none, though the operator printed it: its holder types an address,
 * and might type somebody else's. What a workspace made proves none either: its owner might invite an address to be the first who
 * has it. (Mail, once it is sent, will prove what it is delivered to: `proves_email` of the invitation says which do.)
 *
 * By a link that proves, only an account that has proven the address is joined with, by its password; accounts that have not
 * are left alone even where the password is theirs. It may have been told to the owner by whoever squats there, who would then
 * be inside with them. So nothing of such an account ever passes over: neither password, nor sessions, nor workspaces.
 *
 * By any other link a password that fits no account makes a new one, whether or not others have the address: nobody is kept out,
 * and nobody learns who is here.
 */
const joiner = async (context: VisitContext, { provesEmail }: Invited, comer: Comer): Promise<Known | NewAccount> => {
  const { email, password, name } = comer
  const account = emailKey(email)
  const accounts = await candidatesFor(context.db, { emailKey: account })
  const verified = accounts.filter(({ email_status }) => email_status === 'verified')
  if (provesEmail && verified.length > 0) return knownAs(await requireAccount(context, { email, password, accounts: verified }))
  const known = provesEmail ? undefined : await accountOfJoiner(context, { email, password, accounts })
  if (known) return knownAs(known)
  requireGoodPassword(password, { email, path: 'password' })
  const hash = await context.identity.passwords.hash(password, networkOf(context.visit.address))
  return { id: newId(), email: plainText(email), emailKey: account, name: plainText(name), hash }
}

const NOT_JOINED = {
  spent: 'the invitation was accepted meanwhile',
  taken: 'a member of this workspace has this email, and another password: sign in, or give that password',
}

/** What an invitation's link leads to, for the page behind it. Throws `not_found`. */
export const invitationBehind = async (db: VisitContext['db'], token: string): Promise<Invited> =>
  (await openInvitation(db, hashOfLink(token))) ?? fail('not_found', NOT_OPEN)

/** Invitations of a workspace that are open at once. */
const MOST_OPEN = 200

const refuseMember = async (sql: Sql, email: string): Promise<void> => {
  if (await isMember(sql, emailKey(email))) fail('conflict', 'a member already has this email')
}

export const invitationHandlers = (publicUrl: string): Handlers<typeof invitations> => ({
  async create({ email, role }, { sql, gate, principal }) {
    if (role === 'owner') await requireFreshPassword({ sql, principal })
    if (email !== undefined) await refuseMember(sql, email)
    if ((await countOpenInvitations(sql)) >= MOST_OPEN) fail('conflict', `${MOST_OPEN} invitations are open: withdraw one first`)
    const token = newLinkToken('inv')
    const expires_at = new Date(gate.now.getTime() + INVITATION_MS)
    const row = {
      id: newId(),
      email: email === undefined ? null : plainText(email),
      role,
      invited_by: personOf(principal),
      created_at: gate.now,
      expires_at,
    }
    const invitation = { ...row, status: 'open' as const, accepted_at: null, accepted_by: null, revoked_at: null }
    const effects = { writes: [addInvitation({ ...row, token_hash: hashOfLink(token) })] }
    return { reply: { invitation, url: linkTo(publicUrl, 'join', token) }, effects, refId: row.id, auditDetail: { email: row.email, role } }
  },

  async list(input, { read }) {
    const page = pageOf(input)
    const { rows, next_cursor } = pageResult(await read<InvitationRow>(listInvitations(page)), page.limit)
    return { invitations: rows, next_cursor }
  },

  async revoke({ id }, { sql, gate }) {
    const invitation = (await lockInvitation(sql, id)) ?? fail('not_found', 'no such invitation')
    if (invitation.status === 'accepted') fail('conflict', 'cannot withdraw: the invitation was accepted')
    if (invitation.status === 'revoked') return { reply: { invitation } }
    const revoked = { ...invitation, status: 'revoked' as const, revoked_at: gate.now }
    return { reply: { invitation: revoked }, effects: { writes: [withdrawInvitation(id, gate.now)] } }
  },

  async accept({ token, email, password, name = '', delivery = 'cookie' }, context) {
    const invitation = await invitationBehind(context.db, token)
    // The one who was invited, whatever else is given: the link came to that address.
    const address = invitation.email ?? email ?? needEmail()
    const person = await joiner(context, invitation, { email: address, password, name })
    const { surface, requestId } = context.visit
    const accepted = await acceptInvitation(context.db, { invitation, person, surface, requestId })
    if (accepted !== 'joined') fail('conflict', NOT_JOINED[accepted])
    return begin(context, {
      personId: person.id,
      hash: person.hash,
      tenantId: invitation.tenantId,
      delivery,
      operation: 'app.session.signIn',
    })
  },
})
