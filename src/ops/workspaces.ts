/** What operators do to workspaces: from the first start and from the command line. */
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
import type { World } from './call.ts'
import { hashOfLink, linkTo, newLinkToken } from './links.ts'

export interface NewKey {
  id: string
  /** Shown once; only its hash is kept. */
  api_key: string
}

/** What a key has unless asked otherwise: everything but workspace:use. */
export const usualScopes: Scope[] = ['api:read', 'api:write', 'mcp:use']

export const createKey = async (
  db: Db,
  { tenantId, scopes, name, key = newApiKey() }: { tenantId: string; scopes: Scope[]; name: string; key?: string },
): Promise<NewKey> => {
  const id = await insertKey(db, { tenantId, name, hash: hashApiKey(key), last4: key.slice(-4), scopes })
  return id === undefined ? fail('not_found', 'no such workspace') : { id, api_key: key }
}

export const createWorkspace = async (db: Db, name: string): Promise<string> => {
  if (name.trim() === '' || name.length > 160) throw new AppError('invalid_input', 'the name must have 1 to 160 characters')
  const strange = strangeCharacter(name)
  if (strange) throw new AppError('invalid_input', `the name contains ${strange}, an invisible character or one that reorders text`)
  const id = newId()
  await insertTenant(db, { id, name: plainText(name), plan: defaultPlan })
  return id
}

/** The link by which somebody becomes a member: good once, shown once. With an email it is for whoever joins under that, and proves it. */
export const inviteByOperator = async (
  { db, publicUrl }: { db: Db; publicUrl: string },
  { tenantId, role, email }: { tenantId: string; role: Role; email?: string | undefined },
): Promise<string> => {
  const token = newLinkToken('inv')
  const id = await insertOperatorInvitation(db, { tenantId, role, email: email && plainText(email), tokenHash: hashOfLink(token) })
  return id === undefined ? fail('not_found', 'no such workspace') : linkTo(publicUrl, 'join', token)
}

/** Connects an account that a network has let us into. The first one becomes the default. */
export const connectAccount = (
  world: Pick<World, 'ask'>,
  tenantId: string,
  { network, externalId, handle }: ReachedAccount,
): Promise<void> => {
  const letter: Letter<void> = {
    name: 'connect',
    priority: 'interactive',
    provenance: { principal: { kind: 'system', id: 'operator' }, surface: 'admin' },
    async decide(sql, gate) {
      const { account, effects } = await connectEffects({ sql, gate, tenantId }, { network, externalId, handle })
      const audit = { operation: 'growth.connections.connect', refId: account.id, detail: { network, handle } }
      return { reply: undefined, effects: { ...effects, audit } }
    },
  }
  return world.ask(tenantId, letter)
}
