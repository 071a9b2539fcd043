/** Password resets by the operator. */
import { emailKey } from '#domain/app/person'
import { AppError, fail } from '#kernel/errors'
import { plainText } from '#kernel/plain-text'
import { accountsOf, insertReset, type PersonAccount } from '#store/app/person-reset'
import type { Db } from '#store/engine/db'
import { hashOfLink, newLinkToken, tokenLink } from '../../app/access/links.ts'

export interface ResetLink {
  person_id: string
  name: string
  email: string
  /** Before the link is used. */
  email_status: PersonAccount['email_status']
  workspaces: string[]
  url: string
  expires_at: Date
}

const describe = ({ id, name, workspaces, created_at }: PersonAccount): string =>
  `${id} (${[name, `since ${created_at.toISOString().slice(0, 10)}`, workspaces.join(', ') || 'no workspace'].filter(Boolean).join('; ')})`

/**
 * The account that has verified the address, or else the only one with it. Throws `not_found` or
 * `conflict`.
 */
const byEmail = async (db: Db, email: string): Promise<PersonAccount> => {
  const accounts = await accountsOf(db, { emailKey: emailKey(email) })
  const [first] = accounts
  if (!first) return fail('not_found', `no account has the email ${email}`)
  if (first.email_status === 'verified' || accounts.length === 1) return first
  const all = accounts.map((one) => `\n  ${describe(one)}`).join('')
  throw new AppError(
    'conflict',
    `${accounts.length} accounts have the email ${email}, none of them verified. Choose one with --id:${all}`,
    { reason: 'duplicate' },
  )
}

/**
 * The account of this id, if it has this address or has lost its own. Throws `not_found` or
 * `conflict`.
 */
const byId = async (db: Db, id: string, email: string): Promise<PersonAccount> => {
  const [account] = await accountsOf(db, { id })
  if (!account) return fail('not_found', `no such person: ${id}`)
  if (account.email !== null && emailKey(account.email) !== emailKey(email))
    fail('conflict', `this person already has the email ${account.email}`, {
      reason: 'wrong_state',
    })
  const [holder] = await accountsOf(db, { emailKey: emailKey(email) })
  if (holder?.email_status === 'verified' && holder.id !== id)
    fail('conflict', `another person has verified this email: ${describe(holder)}`, {
      reason: 'duplicate',
    })
  return account
}

/**
 * A link to choose a new password. It works once, within an hour, and voids an earlier one. It
 * verifies the address, because the operator gives it to the owner of the address. The account
 * keeps its workspaces, so the operator must check whose account it is before handing on the link;
 * the result says so.
 */
export const resetByOperator = async (
  { db, publicUrl }: { db: Db; publicUrl: string },
  { email: typed, id }: { email: string; id?: string | undefined },
): Promise<ResetLink> => {
  const account = id === undefined ? await byEmail(db, typed) : await byId(db, id, typed)
  const { id: person_id, name, email_status, workspaces } = account
  const email = account.email ?? plainText(typed)
  const token = newLinkToken('rst')
  const expires_at = await insertReset(db, {
    personId: person_id,
    email,
    emailKey: emailKey(email),
    tokenHash: hashOfLink(token),
  })
  return {
    person_id,
    name,
    email,
    email_status,
    workspaces,
    url: tokenLink(publicUrl, 'reset', token),
    expires_at,
  }
}
