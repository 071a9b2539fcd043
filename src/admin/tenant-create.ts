/** `tendril admin tenant create`. */
import { scopes } from '#kernel/scopes'
import {
  connectAccount,
  createKey,
  createWorkspace,
  inviteByOperator,
} from '#ops/operator/admin/workspaces'
import { joinDatabase } from '#server/database'
import { openWorkplace } from '#server/workplace'
import { type AdminContext, type Flags, optionalEmail, text } from './flags.ts'

export const createTenant = async ({ config, log }: AdminContext, flags: Flags) => {
  const [name, address] = [text(flags, 'name'), optionalEmail(flags)]
  await using database = await joinDatabase(config, log, { makesSchema: true })
  // It must not start due work of other workspaces, but only make this one.
  await using workplace = await openWorkplace(
    config,
    { ...database.options, max: 2 },
    { log, keys: database.keys, overrides: { sweepMs: 0 } },
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
