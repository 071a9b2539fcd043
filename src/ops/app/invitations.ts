import { createHash, randomBytes } from 'node:crypto'
import type { invitations } from '#contract/app/invitations'
import { emailKey } from '#domain/person'
import { AppError, fail } from '#kernel/errors'
import { newId } from '#kernel/ids'
import { acceptInvitation, openInvitation } from '#store/invitations'
import { personByEmail } from '#store/people'
import type { DoorContext, Handlers } from '../call.ts'
import { begin, requirePassword } from './session.ts'

/** The secret of an invitation's link; kept as its hash alone. */
export const newInvitationToken = (): string => `inv_${randomBytes(24).toString('base64url')}`
export const hashInvitationToken = (token: string): Buffer => createHash('sha256').update(token).digest()
export const invitationUrl = (publicUrl: string, token: string): string => `${publicUrl}/join?token=${token}`

const needEmail = (): never => {
  throw new AppError('invalid_input', 'email is required', { details: [{ path: 'email', message: 'is required' }] })
}

/** Who has an account shows that it is theirs; an account that is not there yet is made of what was given. */
const joiner = async (context: DoorContext, { email, password, name }: { email: string; password: string; name: string }) => {
  const account = emailKey(email)
  const known = await personByEmail(context.db, account)
  if (!known) {
    const hash = await context.identity.passwords.hash(password, context.visit.address)
    return { id: newId(), email: email.trim(), emailKey: account, name, hash }
  }
  await requirePassword(context, { account, password, hash: known.hash })
  return { id: known.id }
}

export const invitationHandlers: Handlers<typeof invitations> = {
  async accept({ token, email, password, name = '', delivery = 'cookie' }, context) {
    const invitation = await openInvitation(context.db, hashInvitationToken(token))
    if (!invitation) return fail('not_found', 'this invitation is not open: it was accepted, withdrawn, or is too old')
    // The one who was invited, whatever else is given: the link came to that address.
    const address = invitation.email ?? email ?? needEmail()
    const person = await joiner(context, { email: address, password, name })
    const { surface, requestId } = context.visit
    const joined = await acceptInvitation(context.db, { invitation, person, surface, requestId })
    if (!joined) return fail('conflict', 'the invitation was accepted meanwhile, or the email was taken')
    return begin(context, { personId: person.id, tenantId: invitation.tenantId, delivery, operation: 'app.session.signIn' })
  },
}
