/**
 * The lane of the agent's jobs. Each claim does one thing of a job, and one letter settles each
 * outcome.
 */
import type { Ending, Lane } from '../../engine/lane.ts'
import { claimJob, giveUpJob } from './claim.ts'
import { type AgentDeps, MODEL_TURN_MS, THINK_MS } from './deps.ts'
import type { AgentOutcome } from './outcome.ts'
import { runOutside } from './outside.ts'
import type { AgentRun } from './run.ts'
import { type SettleParts, settleParts, settleRun } from './settle.ts'

/** Includes waiting for a turn among the model calls of the process. */
const LEASE_MS = MODEL_TURN_MS + THINK_MS + 30_000

export const agentLane = (deps: AgentDeps): Ending<Lane<AgentRun, AgentOutcome, SettleParts>> => ({
  kind: 'agent',
  leaseMs: LEASE_MS,
  priority: 'background',
  claim: (sql, gate, work) => claimJob(deps, sql, gate, work),
  givenUp: (sql, gate, work) => giveUpJob(deps, sql, gate, work),
  logFields: ({ job }) => ({ job: job.id }),
  run: (run, context) => runOutside(deps, run, context),
  load: settleParts,
  settle: (sql, gate, finished, loaded) => settleRun(deps, { sql, gate }, finished, loaded),
  // The next claim finds the steps running, and counts that as a death.
  crashed: () => undefined,
})
