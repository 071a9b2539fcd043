/** A server that makes a backup of its database's files, as BACKUP_DIR has it, at each SIGUSR2. */
import { readConfig } from '#config/config'
import { createLog } from '#kernel/log'
import { takeBackup } from '#server/backup/take'
import { openDatabase } from '#server/database'
import { listen } from '#server/listen'
import { openWorkplace } from '#server/workplace'

const config = readConfig()
const log = createLog(config.logLevel)
const database = await openDatabase(config, log)
// The bench has started the database of the home, so that the server reaches it by its address.
const place = { config: { ...config, databaseUrl: undefined }, log }
const order = { to: process.env.BENCH_BACKUP_TO!, passphrase: undefined }
process.on('SIGUSR2', () =>
  takeBackup(place, order, { logical: false }).catch((cause) =>
    log.error({ err: cause }, 'failed'),
  ),
)
await listen(
  config,
  await openWorkplace(config, database.options, { log, keys: database.keys }),
  log,
)
