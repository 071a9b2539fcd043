import { createHash, randomBytes } from 'node:crypto'
import type { invitations } from '#contract/app/invitations'
import { networkOf } from '#domain/network-of'
import { requireGoodPassword } from '#domain/password'
import { emailKey, INVITATION_MS } from '#domain/person'
import { AppError, fail } from '#kernel/errors'
import { newId } from '#kernel/ids'
import type { Sql } from '#store/db'
import { acceptInvitation, type Invited, openInvitation } from '#store/invitations'
import { isMember } from '#store/members'
import { personByEmail } from '#store/people'
import { personOf } from '#store/principal'
import {
  addInvitation,
  countOpenInvitations,
  type InvitationRow,
  listInvitations,
  lockInvitation,
  withdrawInvitation,
} from '#store/workspace-invitations'
import type { DoorContext, Handlers } from '../call.ts'
import { pageOf, pageResult } from '../paging.ts'
import { begin, requirePassword } from './session.ts'

/** The secret of an invitation's link; kept as its hash alone. */
export const newInvitationToken = (): string => `inv_${randomBytes(24).toString('base64url')}`
export const hashInvitationToken = (token: string): Buffer => createHash('sha256').update(token).digest()
export const invitationUrl = (publicUrl: string, token: string): string => `${publicUrl}/join?token=${token}`

const NOT_OPEN = 'this invitation is not open: it was accepted, withdrawn, or is too old'

const needEmail = (): never => {
  throw new AppError('invalid_input', 'email is required', { details: [{ path: 'email', message: 'is required' }] })
}

/** Who has an account shows that it is theirs; an account that is not there yet is made of what was given. */
const joiner = async (context: DoorContext, { email, password, name }: { email: string; password: string; name: string }) => {
  const account = emailKey(email)
  const known = await personByEmail(context.db, account)
  if (!known) {
    requireGoodPassword(password, { email, path: 'password' })
    const hash = await context.identity.passwords.hash(password, networkOf(context.visit.address))
    return { id: newId(), email: email.trim(), emailKey: account, name, hash }
  }
  await requirePassword(context, { account, password, hash: known.hash })
  return { id: known.id }
}

/** What an invitation's link leads to, for the page behind it. Throws `not_found`. */
export const invitationBehind = async (db: DoorContext['db'], token: string): Promise<Invited> =>
  (await openInvitation(db, hashInvitationToken(token))) ?? fail('not_found', NOT_OPEN)

/** Invitations of a workspace that are open at once. */
const MOST_OPEN = 200

const refuseMember = async (sql: Sql, email: string): Promise<void> => {
  if (await isMember(sql, emailKey(email))) fail('conflict', 'this email is that of a member')
}

export const invitationHandlers = (publicUrl: string): Handlers<typeof invitations> => ({
  async create({ email, role }, { sql, gate, principal }) {
    if (email !== undefined) await refuseMember(sql, email)
    if ((await countOpenInvitations(sql)) >= MOST_OPEN) fail('conflict', `${MOST_OPEN} invitations are open: withdraw one first`)
    const token = newInvitationToken()
    const expires_at = new Date(gate.now.getTime() + INVITATION_MS)
    const row = { id: newId(), email: email?.trim() ?? null, role, invited_by: personOf(principal), created_at: gate.now, expires_at }
    const invitation = { ...row, status: 'open' as const, accepted_at: null, accepted_by: null, revoked_at: null }
    const effects = { writes: [addInvitation({ ...row, token_hash: hashInvitationToken(token) })] }
    return { reply: { invitation, url: invitationUrl(publicUrl, token) }, effects, refId: row.id, told: { email: row.email, role } }
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
    const person = await joiner(context, { email: address, password, name })
    const { surface, requestId } = context.visit
    const joined = await acceptInvitation(context.db, { invitation, person, surface, requestId })
    if (!joined) return fail('conflict', 'the invitation was accepted meanwhile, or the email was taken')
    return begin(context, { personId: person.id, tenantId: invitation.tenantId, delivery, operation: 'app.session.signIn' })
  },
})
