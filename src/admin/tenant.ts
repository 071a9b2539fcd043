/** `tendril admin tenant …`: workspaces. */
import { scopes } from '#kernel/scopes'
import { pageOf, pageResult } from '#ops/engine/paging'
import {
  connectAccount,
  createKey,
  createWorkspace,
  inviteByOperator,
} from '#ops/operator/admin/workspaces'
import { joinDatabase } from '#server/database'
import { openWorkplace } from '#server/workplace'
import { listTenants } from '#store/app/tenants'
import type { Db } from '#store/engine/db'
import { type AdminGroup, optional, paging, required, toggle } from './command.ts'
import { type AdminContext, type Flags, optionalEmail, pageFlags, text } from './flags.ts'
import { withDb } from './place.ts'

const createTenant = async ({ config, log }: AdminContext, flags: Flags) => {
  const [name, address] = [text(flags, 'name'), optionalEmail(flags)]
  await using database = await joinDatabase(config, log, { makesSchema: true })
  // It must not start due work of other workspaces, but only make this one.
  await using workplace = await openWorkplace(
    config,
    { ...database.options, max: 2 },
    { log, overrides: { sweepMs: 0 } },
  )
  const workspace_id = await createWorkspace(workplace.db, name)
  if (flags.sandbox) {
    const account = await workplace.sandbox.connect(
      workspace_id,
      `workspace-${workspace_id.slice(-12)}`,
    )
    await connectAccount(workplace.world, workspace_id, {
      network: workplace.sandbox.name,
      ...account,
    })
  }
  const { api_key } = await createKey(workplace.db, {
    tenantId: workspace_id,
    scopes: [...scopes],
    name: 'created by the operator',
  })
  const place = { db: workplace.db, publicUrl: config.publicUrl }
  return {
    workspace_id,
    api_key,
    sign_in_url: await inviteByOperator(place, {
      tenantId: workspace_id,
      role: 'owner',
      email: address,
    }),
  }
}

const listWorkspaces = (flags: Flags) => {
  const wanted = pageOf(pageFlags(flags))
  return async (db: Db): Promise<object> => {
    const { rows: workspaces, next_cursor } = pageResult(
      await listTenants(db, wanted),
      wanted.limit,
    )
    return { workspaces, next_cursor }
  }
}

export const tenantGroup: AdminGroup = {
  name: 'tenant',
  about: 'workspaces',
  commands: {
    create: {
      about:
        'Create a workspace with an API key and a sign-in link for its owner; --sandbox connects an account of the built-in network',
      flags: { name: required('NAME'), sandbox: toggle, email: optional('OWNER') },
      run: createTenant,
    },
    list: {
      about: 'List workspaces, newest first',
      flags: paging,
      run: (place, flags) => withDb(place, listWorkspaces(flags)),
    },
  },
}
