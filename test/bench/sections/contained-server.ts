/** A server whose agent has tools that fail, and a model that calls what the message says. */
import { readConfig } from '#config/config'
import { createLog } from '#kernel/log'
import { openDatabase } from '#server/database'
import { listen } from '#server/listen'
import { openWorkplace } from '#server/workplace'
import { withBadTools } from '../../support/agent/bad-tools.ts'
import { plannedModel } from '../../support/agent/plan.ts'

/** So that what never ends does so many times in a phase. */
const TOOL_MS = 1_000

const config = readConfig()
// Its failures are what it is for.
const log = createLog('silent')
const database = await openDatabase(config, log)
const overrides = { thinker: plannedModel(), tools: withBadTools(), toolMs: TOOL_MS }
await listen(
  config,
  await openWorkplace(config, database.options, { log, keys: database.keys, overrides }),
  log,
)
