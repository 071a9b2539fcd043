/**
 * A server that sends again whatever it does not know to have been sent, as is often done: it
 * believes that the provider of the dev channel tells repeated requests apart. Runs as a process of
 * its own, which a harness kills.
 */
import { readConfig } from '#config/config'
import { createLog } from '#kernel/log'
import { openDatabase } from '#server/database'
import { listen } from '#server/listen'
import { openWorkplace } from '#server/workplace'

const A_DAY = 86_400_000

const config = readConfig()
const log = createLog(config.logLevel)
const database = await openDatabase(config, log)
const workplace = await openWorkplace(config, database.options, {
  log,
  keys: database.keys,
  overrides: {
    channels: (usual) => ({ ...usual, dev: { ...usual.dev!, repeatableForMs: () => A_DAY } }),
  },
})
await listen(config, workplace, log)
