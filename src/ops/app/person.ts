import type { person } from '#contract/app/person'
import { networkOf } from '#domain/app/network-of'
import { requireGoodPassword } from '#domain/app/password'
import { changeLimit, emailKey, resetLimit } from '#domain/app/person'
import { AppError, fail } from '#kernel/errors'
import { plainText } from '#kernel/plain-text'
import { changePerson, deletePerson, ownPerson } from '#store/app/person'
import { type OpenReset, openReset, resetPerson } from '#store/app/person-reset'
import { forgetTries, returnTry, takeTry } from '#store/app/throttle'
import type { Handlers, VisitContext } from '../engine/call.ts'
import { hashOfLink } from './access/links.ts'
import { accountLimits, requireOwnPassword, WRONG_OWN } from './access/password-check.ts'
import { auditContextOf, signedInOf } from './access/sessions.ts'

const requirePassword = (): never => {
  throw new AppError('invalid_input', 'current_password is required', {
    details: [{ path: 'current_password', message: 'is required to change the email' }],
  })
}

const NOT_GOOD = 'this link is no longer valid: it was used, replaced or has expired'

/**
 * The account of a reset link; does not use up the link. Throws `not_found`, or `rate_limited`
 * after many invalid links.
 */
export const findReset = async (
  { db, visit }: Pick<VisitContext, 'db' | 'visit'>,
  token: string,
): Promise<OpenReset> => {
  const limits = [{ name: `reset address ${networkOf(visit.address)}`, limit: resetLimit }]
  await takeTry(db, 'reset', limits)
  const link = (await openReset(db, hashOfLink(token))) ?? fail('not_found', NOT_GOOD)
  await returnTry(db, limits)
  return link
}

export const personHandlers: Handlers<typeof person> = {
  async get(_, context) {
    const account = await ownPerson(context.db, signedInOf(context).person.id)
    return { reply: { person: account ?? fail('unauthenticated') } }
  },

  async update({ name, email, current_password }, context) {
    const { person: before } = signedInOf(context)
    const newEmail = email === undefined ? before.email : plainText(email)
    const isOther = newEmail !== before.email
    // Limited, because each change adds an audit row to every workspace of the person.
    await takeTry(context.db, 'person', [
      { name: `change of person ${before.id}`, limit: changeLimit },
    ])
    const shown = isOther
      ? await requireOwnPassword(context, before, current_password ?? requirePassword())
      : undefined
    const change = {
      name: name === undefined ? before.name : plainText(name),
      email:
        shown !== undefined && newEmail !== null
          ? { as: newEmail, key: emailKey(newEmail), shown }
          : undefined,
      audit: auditContextOf(context.visit, 'app.person.update'),
    }
    const account = await changePerson(context.db, before.id, change)
    if (account === 'taken')
      return fail('conflict', 'a member of one of your workspaces has this email', {
        reason: 'duplicate',
      })
    return { reply: { person: account ?? fail('unauthenticated', WRONG_OWN) } }
  },

  async delete({ current_password }, context) {
    const { person } = signedInOf(context)
    const { id } = person
    await requireOwnPassword(context, person, current_password)
    const owned = await deletePerson(
      context.db,
      id,
      auditContextOf(context.visit, 'app.person.delete'),
    )
    if (owned)
      fail(
        'conflict',
        `you are the last owner of ${owned}: make someone else an owner, or delete the workspace`,
        { reason: 'last_owner' },
      )
    return { reply: { deleted: id }, cookies: 'clear' }
  },

  async resetPassword({ token, new_password }, context) {
    const { db, identity, visit } = context
    const { email, email_key } = await findReset(context, token)
    requireGoodPassword(new_password, { email, path: 'new_password' })
    const hash = await identity.passwords.hash(new_password, networkOf(visit.address))
    const audit = auditContextOf(visit, 'app.person.resetPassword')
    const done = await resetPerson(db, { tokenHash: hashOfLink(token), hash, audit })
    if (done === 'spent') return fail('not_found', NOT_GOOD)
    if (done === 'taken')
      return fail('conflict', 'another account has verified this email in the meantime', {
        reason: 'duplicate',
      })
    // Failed guesses at the old password say nothing about the new one.
    await forgetTries(db, accountLimits(email_key, visit.address))
    return {
      reply: {
        reset: {
          email,
          signed_out: done.signedOut,
          revoked_keys: done.revokedKeys,
          keys_left: done.keysLeft,
        },
      },
    }
  },
}
