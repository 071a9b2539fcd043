/** `tendril admin attention`: what waits for a person or is stuck, in any workspace. */
import { kindsWhere } from '#decisions/work'
import { sortedPageOf, sortedResult } from '#ops/engine/paging'
import { needingAttention } from '#store/app/attention'
import type { Db } from '#store/engine/db'
import { type AdminGroup, optional, paging } from './command.ts'
import { type Flags, optionalUuid, pageFlags } from './flags.ts'
import { withDb } from './place.ts'

const generations = kindsWhere(({ lane }) => lane === 'generation')

const list = (flags: Flags) => {
  const page = sortedPageOf(pageFlags(flags), false)
  const workspaceId = optionalUuid(flags, 'workspace')
  return async (db: Db): Promise<object> => {
    const { rows, next_cursor } = sortedResult(
      await needingAttention(db, { ...page, workspaceId, generations }),
      page.limit,
    )
    return { entries: rows.map(({ place_at: _, ...entry }) => entry), next_cursor }
  }
}

export const attentionGroup: AdminGroup = {
  name: 'attention',
  about: 'what waits for somebody',
  commands: {
    '': {
      about:
        'List what waits for a person or is stuck in any workspace, oldest first, by ids and without texts',
      flags: { workspace: optional('ID'), ...paging },
      run: (place, flags) => withDb(place, list(flags)),
    },
  },
}
