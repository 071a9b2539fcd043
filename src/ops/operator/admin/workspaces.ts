/** Operators' changes to workspaces: at the first start and from the command line. */
import type { Letter } from '#actors/engine/letter'
import { connectEffects, type ReachedAccount } from '#decisions/growth/connecting'
import { defaultPlan } from '#domain/app/plan'
import { hashApiKey, newApiKey } from '#kernel/api-key'
import { AppError, fail } from '#kernel/errors'
import { newId } from '#kernel/ids'
import { plainText, strangeCharacter } from '#kernel/plain-text'
import type { Role } from '#kernel/roles'
import type { Scope } from '#kernel/scopes'
import { insertOperatorInvitation } from '#store/app/invitations'
import { insertKey } from '#store/app/keys'
import { insertTenant } from '#store/app/tenants'
import type { Db } from '#store/engine/db'
import { operator } from '#store/engine/principal'
import { hashOfLink, newLinkToken, tokenLink } from '../../app/access/links.ts'
import type { World } from '../../engine/call.ts'

export interface NewKey {
  id: string
  /** Shown once; only its hash is stored. */
  api_key: string
}

/** The default scopes of a key: all but workspace:use. */
export const usualScopes: Scope[] = ['api:read', 'api:write', 'mcp:use']

export const createKey = async (
  db: Db,
  {
    tenantId,
    scopes,
    name,
    key = newApiKey(),
  }: { tenantId: string; scopes: Scope[]; name: string; key?: string },
): Promise<NewKey> => {
  const id = await insertKey(db, {
    tenantId,
    name,
    hash: hashApiKey(key),
    last4: key.slice(-4),
    scopes,
  })
  return id === undefined
    ? fail('not_found', `no such workspace: ${tenantId}`)
    : { id, api_key: key }
}

/** The name in the form in which it is stored. Throws `invalid_input`. */
export const nameOfWorkspace = (name: string): string => {
  if (name.trim() === '' || name.length > 160)
    throw new AppError('invalid_input', 'the name must have 1 to 160 characters')
  const strange = strangeCharacter(name)
  if (strange)
    throw new AppError(
      'invalid_input',
      `the name contains ${strange}, an invisible character or one that reorders text`,
    )
  return plainText(name)
}

export const createWorkspace = async (db: Db, given: string): Promise<string> => {
  const [id, name] = [newId(), nameOfWorkspace(given)]
  await insertTenant(db, { id, name, plan: defaultPlan })
  return id
}

/**
 * An invitation link, shown once and valid once. With an email, it is only for that email, and
 * verifies it. Throws `not_found`.
 */
export const inviteByOperator = async (
  { db, publicUrl }: { db: Db; publicUrl: string },
  { tenantId, role, email }: { tenantId: string; role: Role; email?: string | undefined },
): Promise<string> => {
  const token = newLinkToken('inv')
  const id = await insertOperatorInvitation(db, {
    tenantId,
    role,
    email: email && plainText(email),
    tokenHash: hashOfLink(token),
  })
  return id === undefined
    ? fail('not_found', `no such workspace: ${tenantId}`)
    : tokenLink(publicUrl, 'join', token)
}

/** Connects a network account. The first one becomes the default. */
export const connectAccount = (
  world: Pick<World, 'ask'>,
  tenantId: string,
  { network, externalId, handle }: ReachedAccount,
): Promise<void> => {
  const letter: Letter<void> = {
    name: 'connect',
    priority: 'interactive',
    provenance: { principal: operator, surface: 'admin' },
    async decide(sql, gate) {
      const { account, effects } = await connectEffects(
        { sql, gate, tenantId },
        { network, externalId, handle },
      )
      const audit = {
        operation: 'growth.connections.connect',
        refId: account.id,
        detail: { network, handle },
      }
      return { reply: undefined, effects: { ...effects, audit } }
    },
  }
  return world.ask(tenantId, letter)
}
