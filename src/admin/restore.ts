/** `tendril admin restore`: makes a deployment of a backup. */
import { restoreBackup } from '#server/backup/restore'
import { originOf, passphraseFlag, passphraseOf } from './backup.ts'
import { type AdminGroup, optional } from './command.ts'
import { type AdminContext, type Flags, text } from './flags.ts'

const HELD =
  'The next start is held: the deployment posts nothing and does nothing by itself until you have decided with `tendril admin identity adopt`.'

/** The first schema whose programs hold what was restored. */
const HOLDS_SINCE = '000144'

/** What the start of a restored deployment does. `version`: the backup's schema. */
export const heldWords = (version: string): string =>
  version >= HOLDS_SINCE
    ? HELD
    : `${HELD} This goes for this program only: that of the backup (schema ${version}) knows no hold, and posts what falls due as soon as it starts.`

const LIVE_AGAIN =
  'Keys, sessions and members that were ended since the backup live again: end them again.'

const restore = async (place: AdminContext, flags: Flags, from: string): Promise<object> => {
  const restored = await restoreBackup(place, {
    from: originOf(from),
    passphrase: await passphraseOf(flags),
    home: flags.home === undefined ? undefined : text(flags, 'home'),
  })
  return { from, ...restored, next: [heldWords(restored.version), LIVE_AGAIN] }
}

export const restoreGroup: AdminGroup = {
  name: 'restore',
  about: 'what a backup is for',
  commands: {
    '': {
      about:
        'Make a new home of a backup, or fill the empty database of DATABASE_URL; - is standard input',
      operands: ['FROM'],
      flags: { home: optional('DIR'), ...passphraseFlag },
      run: (place, flags, [from = '']) => restore(place, flags, from),
    },
  },
}
