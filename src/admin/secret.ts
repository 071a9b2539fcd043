/** `tendril admin secret …`: the secret key of the deployment, and its rotation. */
import { failpointsFrom } from '#kernel/failpoint'
import { joinDatabase } from '#server/database'
import { dropOldSecret } from '#server/key-rotation/drop'
import { rotateKey } from '#server/key-rotation/rotate'
import { showSecret } from '#server/key-rotation/show'
import type { Rotating } from '#server/key-rotation/steps'
import { makeNextKey } from '#server/secret-key'
import { type AdminGroup, toggle } from './command.ts'
import type { AdminContext, Flags } from './flags.ts'

const joined = async (
  { config, log }: AdminContext,
  act: (rotating: Rotating) => Promise<object>,
): Promise<object> => {
  await using database = await joinDatabase(config, log)
  return await act(database)
}

const generate = async ({ config }: AdminContext): Promise<object> => {
  await makeNextKey(config)
  return {
    generated: true,
    next: 'restart the server, which then knows both keys, and run `tendril admin secret rotate`',
  }
}

const rotate = (place: AdminContext, flags: Flags): Promise<object> =>
  joined(place, (rotating) =>
    rotateKey(rotating, {
      back: flags.back === true,
      failpoints: failpointsFrom(place.config.failpoints),
      tell: (line) => place.err(`tendril admin: ${line}`),
    }),
  )

const drop = (place: AdminContext, flags: Flags): Promise<object> =>
  joined(place, (rotating) =>
    dropOldSecret(place.config, rotating, {
      endsSessions: flags['end-sessions'] === true,
      failpoints: failpointsFrom(place.config.failpoints),
    }),
  )

export const secretGroup: AdminGroup = {
  name: 'secret',
  about: 'the secret key of this deployment',
  commands: {
    show: {
      about:
        'Show the keys by their fingerprints, which server knows which, and what is sealed under others than the newest',
      run: (place) => joined(place, showSecret),
    },
    generate: {
      about: 'Make the next key of an embedded database, beside the present one',
      run: generate,
    },
    rotate: {
      about:
        'Seal everything under the next key while servers serve; if it was stopped, run it again. --back: under the old one again',
      flags: { back: toggle },
      run: rotate,
    },
    'drop-old': {
      about:
        'Drop the old key after a rotation, or say what still needs it. --end-sessions: end the sessions that need it',
      flags: { 'end-sessions': toggle },
      run: drop,
    },
  },
}
