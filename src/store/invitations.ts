/** Invitations, found by the token of their link before their workspace is known. */
import { INVITATION_MS } from '#domain/person'
import { newId } from '#kernel/ids'
import type { Role } from '#kernel/roles'
import type { Db } from './db.ts'
import { auditEntry, toldByOperator } from './told.ts'

export interface Invited {
  id: string
  tenantId: string
  workspace: string
  email: string | null
  role: Role
}

/** An invitation that can still be accepted. */
export const openInvitation = async (db: Db, tokenHash: Buffer): Promise<Invited | undefined> => {
  const [row] = await db.system(
    (sql) => sql<{ id: string; tenant_id: string; workspace: string; email: string | null; role: Role }[]>`
      select i.id, i.tenant_id, t.name as workspace, i.email, i.role from invitation i join tenant t on t.id = i.tenant_id
      where i.token_hash = ${tokenHash} and i.accepted_at is null and i.revoked_at is null and i.expires_at > clock_timestamp()`,
  )
  return row && { id: row.id, tenantId: row.tenant_id, workspace: row.workspace, email: row.email, role: row.role }
}

/** The operator's, or the first start's: of nobody who is a member already. */
export const insertOperatorInvitation = async (
  db: Db,
  { tenantId, tokenHash, role }: { tenantId: string; tokenHash: Buffer; role: Role },
): Promise<string | undefined> => {
  const id = newId()
  const made = await toldByOperator(
    db,
    { operation: 'operator.invitations.create', detail: { role } },
    (sql) => sql`insert into invitation (id, tenant_id, role, token_hash, expires_at)
      select ${id}::uuid, t.id, ${role}, ${tokenHash}, clock_timestamp() + ${INVITATION_MS} * interval '1 millisecond'
      from tenant t where t.id = ${tenantId} returning tenant_id, id as ref_id`,
  )
  return made === 1 ? id : undefined
}

export interface Joining {
  invitation: Invited
  /** Who has an account, or the account to be made. */
  person: { id: string } | { id: string; email: string; emailKey: string; name: string; hash: string }
  requestId: string
  surface: string
}

/**
 * Spends an invitation and makes the person a member, in one transaction: of two who come with the same link, one joins. False:
 * it was spent meanwhile, or the email was taken. Whoever is a member already keeps the role there is.
 */
export const acceptInvitation = (db: Db, { invitation, person, requestId, surface }: Joining): Promise<boolean> =>
  db
    .systemTransaction(async (tx) => {
      if ('hash' in person) {
        const made = await tx`insert into person (id, email, email_key, name, password_hash)
          values (${person.id}, ${person.email}, ${person.emailKey}, ${person.name}, ${person.hash}) on conflict (email_key) do nothing returning 1`
        if (made.length === 0) return false
      }
      const spent = await tx`update invitation set accepted_at = clock_timestamp(), accepted_by = ${person.id}
        where id = ${invitation.id} and accepted_at is null and revoked_at is null and expires_at > clock_timestamp() returning 1`
      if (spent.length === 0) throw new Spent()
      await tx`insert into member (tenant_id, person_id, role) values (${invitation.tenantId}, ${person.id}, ${invitation.role})
        on conflict (tenant_id, person_id) do nothing`
      const told = { operation: 'app.invitations.accept', surface, requestId }
      await auditEntry(tx, { ...told, tenantId: invitation.tenantId, actor: { kind: 'person', id: person.id }, refId: invitation.id })
      return true
    })
    .catch((cause) => {
      if (cause instanceof Spent) return false
      throw cause
    })

/** Takes the account that was made for it back too. */
class Spent extends Error {
  override readonly name = 'Spent'
}
