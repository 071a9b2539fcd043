/** `tendril admin tenant list`, `find`, `get`, `members` and `keys`, which change nothing. */
import { fail } from '#kernel/errors'
import { pageOf, pageResult } from '#ops/engine/paging'
import { listMembers } from '#store/app/members'
import { listTenants, type TenantState, tenantState } from '#store/app/tenants'
import { listKeys } from '#store/app/workspace-keys'
import type { Db, Query } from '#store/engine/db'
import type { Page } from '#store/engine/page'
import { type AdminContext, type Flags, noSuchWorkspace, pageFlags, uuid } from './flags.ts'
import { withDb } from './place.ts'

const MOST_CHARACTERS = 320

const workspaces = (place: AdminContext, flags: Flags, text?: string): Promise<object> => {
  const wanted = pageOf(pageFlags(flags))
  return withDb(place, async (db) => {
    const found = pageResult(await listTenants(db, wanted, text), wanted.limit)
    return { workspaces: found.rows, next_cursor: found.next_cursor }
  })
}

export const tenantPage = (place: AdminContext, flags: Flags): Promise<object> =>
  workspaces(place, flags)

export const findTenants = async (
  place: AdminContext,
  flags: Flags,
  [given = '']: readonly string[],
): Promise<object> => {
  const text = given.trim()
  if (text === '' || text.length > MOST_CHARACTERS)
    fail('invalid_input', `TEXT must have 1 to ${MOST_CHARACTERS} characters`)
  return await workspaces(place, flags, text)
}

/** Throws `not_found`. */
export const stateOf = async (db: Db, id: string): Promise<TenantState> =>
  (await tenantState(db, id)) ?? noSuchWorkspace(id)

export const getTenant = async (place: AdminContext, flags: Flags): Promise<object> => {
  const id = uuid(flags, 'workspace')
  return { workspace: await withDb(place, (db) => stateOf(db, id)) }
}

/** A page of what a workspace has. */
const pageOfTenant =
  <Row extends { id: string }>(name: string, list: (page: Page) => Query<Row>) =>
  async (place: AdminContext, flags: Flags): Promise<object> => {
    const [tenantId, wanted] = [uuid(flags, 'workspace'), pageOf(pageFlags(flags))]
    return await withDb(place, async (db) => {
      await stateOf(db, tenantId)
      const found = pageResult(await db.read({ tenantId }, list(wanted)), wanted.limit)
      return { workspace_id: tenantId, [name]: found.rows, next_cursor: found.next_cursor }
    })
  }

export const membersOfTenant = pageOfTenant('members', listMembers)
export const keysOfTenant = pageOfTenant('keys', listKeys)
