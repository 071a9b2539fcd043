/** `tendril admin key …`: the API keys of workspaces. */
import { fail } from '#kernel/errors'
import { isScope, type Scope, scopes } from '#kernel/scopes'
import { createKey } from '#ops/operator/admin/workspaces'
import { revokeKey } from '#store/app/keys'
import { type AdminGroup, ofWorkspace, required } from './command.ts'
import { type AdminContext, type Flags, text, uuid } from './flags.ts'
import { withDb } from './place.ts'

const scopeList = (flags: Flags): Scope[] =>
  text(flags, 'scopes')
    .split(',')
    .map((scope) =>
      isScope(scope)
        ? scope
        : fail('invalid_input', `no such scope: ${scope}; choose from ${scopes.join(', ')}`),
    )

const create = async (place: AdminContext, flags: Flags): Promise<object> => {
  const key = {
    tenantId: uuid(flags, 'workspace'),
    scopes: scopeList(flags),
    name: 'created by the operator',
  }
  return await withDb(place, (db) => createKey(db, key))
}

const revoke = async (place: AdminContext, flags: Flags): Promise<object> => {
  const id = uuid(flags, 'id')
  const workspace_id = await withDb(place, (db) => revokeKey(db, id))
  return workspace_id === undefined
    ? fail('not_found', `no such key: ${id}`)
    : { id, workspace_id, revoked: true }
}

export const keyGroup: AdminGroup = {
  name: 'key',
  about: 'API keys',
  commands: {
    create: {
      about: 'Create an API key of a workspace, and print it once',
      flags: { ...ofWorkspace, scopes: required(scopes.join(',')) },
      run: create,
    },
    revoke: { about: 'Revoke an API key', flags: { id: required('ID') }, run: revoke },
  },
}
