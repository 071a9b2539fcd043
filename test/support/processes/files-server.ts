/**
 * A server that also stores a file of FILE_MIB for the workspace FILE_TENANT, and keeps it. Runs as
 * a process of its own, which a test kills.
 */
import { randomBytes } from 'node:crypto'
import { readConfig } from '#config/config'
import { createLog } from '#kernel/log'
import { openDatabase } from '#server/database'
import { listen } from '#server/listen'
import { openWorkplace } from '#server/workplace'
import { fileDesk } from '../files.ts'

const MIB = 1_048_576

const config = readConfig()
const log = createLog(config.logLevel)
const database = await openDatabase(config, log)
const workplace = await openWorkplace(config, database.options, { log, keys: database.keys })
await listen(config, workplace, log)
const desk = fileDesk({ workplace }, process.env.FILE_TENANT!)
await desk.keep(
  await desk.files.put(desk.tenantId, randomBytes(Number(process.env.FILE_MIB) * MIB)),
)
