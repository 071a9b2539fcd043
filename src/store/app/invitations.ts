/** Invitations, looked up by their link's token before the workspace is known. */
import { INVITATION_MS } from '#domain/app/person'
import { newId } from '#kernel/ids'
import type { Role } from '#kernel/roles'
import { auditEntry, changeAsOperator } from '../engine/audit-entry.ts'
import { codeOf, type Db, type Sql } from '../engine/db.ts'
import { claimAddress } from './people.ts'

export interface Invited {
  id: string
  tenantId: string
  workspace: string
  email: string | null
  /**
   * The link was printed or delivered for this email, so it proves that the email belongs to the
   * invited person.
   */
  provesEmail: boolean
  role: Role
}

/** An invitation that can still be accepted. */
export const openInvitation = async (db: Db, tokenHash: Buffer): Promise<Invited | undefined> => {
  const [row] = await db.system(
    (sql) => sql<{
      id: string
      tenant_id: string
      workspace: string
      email: string | null
      proves_email: boolean
      role: Role
    }>`
      select i.id, i.tenant_id, t.name as workspace, i.email, i.proves_email, i.role
        from invitation i join tenant t on t.id = i.tenant_id
      where i.token_hash = ${tokenHash} and i.accepted_at is null and i.revoked_at is null
        and i.expires_at > clock_timestamp()`,
  )
  if (!row) return undefined
  const { id, tenant_id: tenantId, workspace, email, proves_email: provesEmail, role } = row
  return { id, tenantId, workspace, email, provesEmail, role }
}

/**
 * An invitation by the operator or the first start. One with an email proves that email. One
 * without lets people type any email, which proves nothing.
 */
export const insertOperatorInvitation = async (
  db: Db,
  {
    tenantId,
    tokenHash,
    role,
    email = null,
  }: { tenantId: string; tokenHash: Buffer; role: Role; email?: string | null | undefined },
): Promise<string | undefined> => {
  const id = newId()
  const changed = await changeAsOperator(
    db,
    { operation: 'operator.invitations.create', detail: { role, email } },
    (sql) => sql`insert into invitation (id, tenant_id, role, email, proves_email, token_hash,
      expires_at)
      select ${id}::uuid, t.id, ${role}, ${email}::text, ${email !== null}, ${tokenHash},
        clock_timestamp() + ${INVITATION_MS} * interval '1 millisecond'
      from tenant t where t.id = ${tenantId} returning tenant_id, id as ref_id`,
  )
  return changed === 1 ? id : undefined
}

export interface NewAccount {
  id: string
  email: string
  emailKey: string
  name: string
  hash: string
}

export interface Joining {
  invitation: Invited
  person: { id: string } | NewAccount
  requestId: string
  surface: string
}

/**
 * `taken`: somebody else has proven the email in the meantime, or another member of the workspace
 * has it.
 */
export type Acceptance = 'joined' | 'spent' | 'taken'

const UNIQUE_VIOLATION = '23505'

/**
 * Creates an account. A link that proves its email takes the email from all accounts that have not
 * proven it. Otherwise no other member of the workspace may have the email. This way, an address
 * has no more accounts than there are workspaces that invite it.
 */
const insertAccount = async (
  tx: Sql,
  { id, email, emailKey, name, hash }: NewAccount,
  { tenantId, provesEmail }: Invited,
): Promise<void> => {
  if (provesEmail) await claimAddress(tx, { emailKey, personId: id })
  else {
    const members = await tx`select 1 from person p join member m on m.person_id = p.id
      where p.email_key = ${emailKey} and m.tenant_id = ${tenantId} limit 1`
    if (members.length > 0) throw new Rollback('taken')
  }
  await tx`insert into person (id, email, email_key, name, password_hash, email_verified_at)
    values (${id}, ${email}, ${emailKey}, ${name}, ${hash}, case when ${provesEmail}
      then clock_timestamp() end)`
}

/**
 * Spends an invitation and makes the person a member, in one transaction, so that of two callers
 * with one link only one joins. Existing members keep their role.
 */
export const acceptInvitation = (
  db: Db,
  { invitation, person, requestId, surface }: Joining,
): Promise<Acceptance> =>
  db
    .systemTransaction(async (tx): Promise<Acceptance> => {
      if ('emailKey' in person) await insertAccount(tx, person, invitation)
      const spent =
        await tx`update invitation set accepted_at = clock_timestamp(), accepted_by = ${person.id}
        where id = ${invitation.id} and accepted_at is null and revoked_at is null
          and expires_at > clock_timestamp() returning 1`
      if (spent.length === 0) throw new Rollback('spent')
      await tx`insert into member (tenant_id, person_id, role)
        values (${invitation.tenantId}, ${person.id}, ${invitation.role})
        on conflict (tenant_id, person_id) do nothing`
      const audit = { operation: 'app.invitations.accept', surface, requestId }
      await auditEntry(tx, {
        ...audit,
        tenantId: invitation.tenantId,
        actor: { kind: 'person', id: person.id },
        refId: invitation.id,
      })
      return 'joined'
    })
    .catch((cause) => {
      if (cause instanceof Rollback) return cause.why
      if (codeOf(cause) === UNIQUE_VIOLATION) return 'taken'
      throw cause
    })

/** Rolls the transaction back, together with the account that it created. */
class Rollback extends Error {
  override readonly name = 'Rollback'
  constructor(readonly why: Exclude<Acceptance, 'joined'>) {
    super(why)
  }
}
