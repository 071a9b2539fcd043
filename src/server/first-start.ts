/**
 * Makes a workspace in a database that has none, with the sandbox connected, so that the whole
 * product works immediately.
 */

import type { Config } from '#config/config'
import { defaultPlan } from '#domain/app/plan'
import { newApiKey } from '#kernel/api-key'
import { AppError } from '#kernel/errors'
import { newId } from '#kernel/ids'
import { scopes } from '#kernel/scopes'
import { connectAccount, createKey, inviteByOperator } from '#ops/operator/admin/workspaces'
import { unfinishedTenant } from '#store/app/tenants'
import type { Workplace } from './workplace.ts'

/**
 * Two servers that start at the same time find the same workspace. The one that owns it finishes
 * it, and the other tries again.
 */
const TRIES = 3

export interface NewWorkspace {
  id: string
  apiKey: string
  /** The first person to open it becomes the owner. */
  signInUrl: string
}

/**
 * The new workspace. Undefined if there were workspaces before. The key is made last, so that its
 * presence shows that everything is done. `keep` is called before that, so that no key exists that
 * nobody can have seen.
 */
export async function firstStart(
  { bootstrapKey, publicUrl }: Pick<Config, 'bootstrapKey' | 'publicUrl'>,
  { db, world, sandbox }: Workplace,
  keep: (made: NewWorkspace) => Promise<void>,
): Promise<NewWorkspace | undefined> {
  for (let tries = 1; ; tries++) {
    const tenantId = await unfinishedTenant(db, {
      id: newId(),
      name: 'My workspace',
      plan: defaultPlan,
    })
    if (!tenantId) return undefined
    try {
      await connectAccount(world, tenantId, {
        network: sandbox.name,
        ...(await sandbox.connect(tenantId, 'me')),
      })
      const signInUrl = await inviteByOperator({ db, publicUrl }, { tenantId, role: 'owner' })
      const made = { id: tenantId, apiKey: bootstrapKey ?? newApiKey(), signInUrl }
      await keep(made)
      const key = { tenantId, name: 'first start', scopes: [...scopes], key: made.apiKey }
      await createKey(db, key)
      return made
    } catch (cause) {
      if (tries >= TRIES || AppError.from(cause).code !== 'unavailable') throw cause
    }
  }
}
