import type { person } from '#contract/app/person'
import { emailKey } from '#domain/person'
import { AppError, fail } from '#kernel/errors'
import { passwordOf } from '#store/people'
import { changePerson, deletePerson, ownPerson } from '#store/person'
import type { DoorContext, Handlers } from '../call.ts'
import { requirePassword, signedInOf, toldOf } from './session.ts'

/** Throws `unauthenticated` when it is not the password of whoever is signed in. */
const requireOwnPassword = async (context: DoorContext, password: string): Promise<void> => {
  const { id, email } = signedInOf(context).person
  await requirePassword(context, { account: emailKey(email), password, hash: await passwordOf(context.db, id) })
}

const needPassword = (): never => {
  throw new AppError('invalid_input', 'current_password is required', {
    details: [{ path: 'current_password', message: 'is required where the email changes' }],
  })
}

export const personHandlers: Handlers<typeof person> = {
  async get(_, context) {
    const account = await ownPerson(context.db, signedInOf(context).person.id)
    return { reply: { person: account ?? fail('unauthenticated') } }
  },

  async update({ name, email, current_password }, context) {
    const { person: before } = signedInOf(context)
    const isOther = email !== undefined && email.trim() !== before.email
    if (isOther) await requireOwnPassword(context, current_password ?? needPassword())
    const next = { name: name ?? before.name, email: isOther ? email.trim() : before.email }
    const told = toldOf(context.visit, 'app.person.update')
    const account = await changePerson(context.db, before.id, { ...next, emailKey: emailKey(next.email), told })
    return { reply: { person: account ?? fail('conflict', 'another account has this email') } }
  },

  async delete({ current_password }, context) {
    const { id } = signedInOf(context).person
    await requireOwnPassword(context, current_password)
    const owned = await deletePerson(context.db, id, toldOf(context.visit, 'app.person.delete'))
    if (owned) fail('conflict', `you are the last owner of ${owned}: make somebody else an owner, or delete the workspace`)
    return { reply: { deleted: id }, keep: 'nothing' }
  },
}
