/** `tendril admin nodes`: the servers of the deployment. */
import { pageOf, pageResult } from '#ops/engine/paging'
import type { Db } from '#store/engine/db'
import { listNodes } from '#store/engine/nodes'
import { pauseEverywhere } from '#store/operator/paused-everywhere'
import { type AdminGroup, paging } from './command.ts'
import { type Flags, pageFlags } from './flags.ts'
import { withDb } from './place.ts'

const list = (flags: Flags) => {
  const wanted = pageOf(pageFlags(flags))
  return async (db: Db): Promise<object> => {
    const { rows: nodes, next_cursor } = pageResult(await listNodes(db, wanted), wanted.limit)
    return { nodes, next_cursor, paused_everywhere: (await pauseEverywhere(db)) ?? null }
  }
}

export const nodesGroup: AdminGroup = {
  name: 'nodes',
  about: 'the servers of this deployment',
  commands: {
    '': {
      about: 'List servers, living and expired, with their leases and how many workspaces they own',
      flags: paging,
      run: (place, flags) => withDb(place, list(flags)),
    },
  },
}
