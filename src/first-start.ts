/** A database without any workspace gets one, with the sandbox connected, so that the whole product works at once. */

import { defaultPlan } from '#domain/plan'
import { isApiKey } from '#kernel/api-key'
import { AppError } from '#kernel/errors'
import { newId } from '#kernel/ids'
import { scopes } from '#kernel/scopes'
import { connectAccount, createKey, usualScopes } from '#ops/workspaces'
import { insertFirstTenant } from '#store/tenants'
import type { Config } from './config.ts'
import type { Workplace } from './server.ts'

/** The API key of the new workspace, or undefined when there were workspaces before. */
export async function firstStart({ bootstrapKey }: Config, { db, world, sandbox }: Workplace): Promise<string | undefined> {
  if (bootstrapKey !== undefined && !isApiKey(bootstrapKey))
    throw new AppError('invalid_input', 'TENDRIL_BOOTSTRAP_KEY is not a well-formed key: ak_, 30 base62 characters, 6 of checksum')
  const tenantId = newId()
  if (!(await insertFirstTenant(db, { id: tenantId, name: 'My workspace', plan: defaultPlan }))) return undefined
  const account = await sandbox.connect('me')
  await connectAccount(world, tenantId, { network: sandbox.name, ...account })
  const options = bootstrapKey ? { scopes: [...scopes], key: bootstrapKey } : { scopes: usualScopes }
  const { api_key } = await createKey(db, { tenantId, name: 'first start', ...options })
  return api_key
}
