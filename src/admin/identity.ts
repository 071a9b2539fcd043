/** `tendril admin identity …`: whether this deployment is held, and the end of that. */
import { fail } from '#kernel/errors'
import { adoptIdentity, showIdentity } from '#server/adopt'
import { joinDatabase } from '#server/database'
import { type AdminGroup, toggle } from './command.ts'
import type { AdminContext, Flags } from './flags.ts'

const show = async ({ config, log }: AdminContext): Promise<object> => {
  await using database = await joinDatabase(config, log)
  return await showIdentity(config, database.options)
}

const RESTORED =
  'this deployment was restored from a backup, so it is another one: run the command without --moved'

const adopt = async ({ config, log }: AdminContext, flags: Flags): Promise<object> => {
  const wanted = {
    moved: flags.moved === true,
    removesObjects: flags['remove-objects'] === true,
    endsSessions: flags['end-sessions'] === true,
    confirmed: flags.yes === true,
  }
  await using database = await joinDatabase(config, log)
  const adopted = await adoptIdentity(config, database.options, wanted)
  return adopted === 'restored' ? fail('conflict', RESTORED, { reason: 'wrong_state' }) : adopted
}

export const identityGroup: AdminGroup = {
  name: 'identity',
  about: 'whether this deployment was copied, and is held for that',
  commands: {
    show: {
      about: 'Show by what this deployment knows itself, whether it is held, and why',
      run: show,
    },
    adopt: {
      about:
        'Say that this deployment goes on and the other is gone; without --yes, show what would follow. --moved: it is the same one, and nothing else ran since, so nobody has to decide what became of its posts',
      flags: {
        moved: toggle,
        'remove-objects': toggle,
        'end-sessions': toggle,
        yes: toggle,
      },
      run: adopt,
    },
  },
}
