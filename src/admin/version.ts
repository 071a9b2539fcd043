/** `tendril admin version`: of this program and of its database, whatever that is. */
import { inspectSchema } from '#server/database'
import { neededVersion } from '#store/engine/migrate'
import { version } from '../../package.json'
import type { AdminGroup } from './command.ts'
import type { AdminContext } from './flags.ts'

/** A program whose database cannot be opened still has a version. */
const databaseOf = async ({ config, log }: AdminContext): Promise<object> => {
  try {
    const { from, migrations, refusal } = await inspectSchema(config, log)
    return { database_schema: from, migrations, refusal }
  } catch (cause) {
    const refusal = cause instanceof Error ? cause.message : String(cause)
    return { database_schema: null, migrations: null, refusal }
  }
}

export const versionGroup: AdminGroup = {
  name: 'version',
  about: 'this program',
  commands: {
    '': {
      about:
        'Print the version and commit of this program, and the migrations that the next start runs',
      run: async (place) => ({
        version,
        commit: place.config.commit,
        schema: neededVersion(),
        ...(await databaseOf(place)),
      }),
    },
  },
}
