/**
 * A deployment on a primary with a synchronous standby, behind proxies that lead to whichever is
 * the primary.
 */
import postgres from 'postgres'
import { newApiKey } from '#kernel/api-key'
import { createLog } from '#kernel/log'
import { migrate } from '#store/engine/migrate'
import { TEST_SECRET } from '#test/support/database/db'
import { startProxy } from '#test/support/database/proxy'
import type { Deployment } from '#test/support/processes/server'
import type { Member } from '../fleet.ts'
import { startCluster } from './cluster.ts'

export interface Replicated extends AsyncDisposable {
  deployment: Deployment
  /** Kills the primary, promotes the standby, and redirects everyone. Works once. */
  failOver(members: Member[]): Promise<void>
}

export async function startReplicated(): Promise<Replicated> {
  await using stack = new AsyncDisposableStack()
  const cluster = stack.use(await startCluster())
  await migrate(cluster.primary, createLog('warn'))
  const proxy = stack.use(await startProxy(cluster.primary))
  const owner = postgres({ ...proxy.options, max: 2, backoff: () => 0.05, onnotice: () => {} })
  stack.defer(() => owner.end({ timeout: 1 }))
  const owned = stack.move()
  const dispose = () => owned.disposeAsync()
  return {
    deployment: {
      owner,
      server: {
        key: newApiKey(),
        database: cluster.primary,
        secret: TEST_SECRET.toString('base64'),
      },
      async firstWorkspace() {
        throw new Error('this deployment has no first workspace')
      },
      [Symbol.asyncDispose]: dispose,
    },
    async failOver(members) {
      await cluster.failOver()
      for (const door of [proxy, ...members.map((member) => member.proxy)])
        door.leadTo(cluster.standby)
    },
    [Symbol.asyncDispose]: dispose,
  }
}
