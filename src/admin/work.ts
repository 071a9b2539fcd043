/** `tendril admin work …`: what keeps failing. */
import { pageOf, pageResult } from '#ops/engine/paging'
import { failingWork } from '#store/app/failing-work'
import type { Db } from '#store/engine/db'
import { type AdminGroup, optional, paging } from './command.ts'
import { type Flags, optionalUuid, pageFlags } from './flags.ts'
import { withDb } from './place.ts'

/** Changes nothing. */
const listFailing = (flags: Flags) => {
  const [wanted, workspace] = [pageOf(pageFlags(flags)), optionalUuid(flags, 'workspace')]
  return async (db: Db): Promise<object> => {
    const { rows: work, next_cursor } = pageResult(
      await failingWork(db, wanted, workspace),
      wanted.limit,
    )
    return { work, next_cursor }
  }
}

export const workGroup: AdminGroup = {
  name: 'work',
  about: 'what is done in the background',
  commands: {
    failing: {
      about:
        'List work that fails and is tried again, newest first, with its workspace and when it is tried next',
      flags: { workspace: optional('ID'), ...paging },
      run: (place, flags) => withDb(place, listFailing(flags)),
    },
  },
}
