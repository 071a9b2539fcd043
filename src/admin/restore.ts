/** `tendril admin restore`: makes a deployment of a backup. */
import { restoreHome } from '#server/backup/restore'
import { homeOf } from '#server/home'
import { originOf, passphraseFlag, passphraseOf } from './backup.ts'
import { type AdminGroup, optional } from './command.ts'
import { type AdminContext, type Flags, text } from './flags.ts'

const HELD =
  'The next start is held: the deployment posts nothing and does nothing by itself until you have decided with `tendril admin identity adopt`.'
const LIVE_AGAIN =
  'Keys, sessions and members that were ended since the backup live again: end them again.'

const restore = async ({ config }: AdminContext, flags: Flags, from: string): Promise<object> => {
  const home = flags.home === undefined ? homeOf(config) : text(flags, 'home')
  const restored = await restoreHome({
    from: originOf(from),
    passphrase: await passphraseOf(flags),
    home,
  })
  return { restored: from, ...restored, next: [HELD, LIVE_AGAIN] }
}

export const restoreGroup: AdminGroup = {
  name: 'restore',
  about: 'what a backup is for',
  commands: {
    '': {
      about: 'Make a new home of a backup, which may be a folder, a file, or - for standard input',
      operands: ['FROM'],
      flags: { home: optional('DIR'), ...passphraseFlag },
      run: (place, flags, [from = '']) => restore(place, flags, from),
    },
  },
}
