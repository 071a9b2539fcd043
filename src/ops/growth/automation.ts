import type { automation } from '#contract/growth/automation'
import type { WorkKind } from '#contract/work'
import { attemptInFlight } from '#decisions/growth/connecting'
import { failWork } from '#decisions/growth/generations'
import { settleRecalled } from '#decisions/growth/recall'
import { resumeCronRules } from '#decisions/growth/rule-times'
import type { KindOfWork } from '#decisions/kind-of-work'
import { unlessBroken } from '#decisions/unless-broken'
import { kindsOfWork, kindsWhere } from '#decisions/work'
import { skips } from '#domain/growth/rules/rule-run'
import { lostAfterMs, onResuming } from '#domain/growth/sending/resuming'
import { sendTimes } from '#domain/growth/sending/times'
import { fail } from '#kernel/errors'
import { repliesInFlight } from '#store/agent/channel-replies'
import { callsInFlight } from '#store/agent/steps'
import type { NamedAuthor } from '#store/app/names'
import { type Effects, merge } from '#store/engine/letter'
import { type Loaded, loadBy } from '#store/engine/load'
import { isOperator } from '#store/engine/principal'
import { type Work, workOfKinds } from '#store/engine/work'
import { attemptsInFlight } from '#store/growth/attempts'
import { overduePosts, pauseOf } from '#store/growth/automation'
import { skipQueuedRuns } from '#store/growth/rule-runs'
import type { CommandContext, Handlers } from '../engine/call.ts'
import { loading } from '../engine/loading.ts'

const onTheWire = { attempts: attemptsInFlight, calls: callsInFlight, replies: repliesInFlight }

const skipped = kindsWhere(({ queued }) => queued === 'skipped')
const cancelled = kindsWhere(({ queued }) => queued === 'cancelled')

/** What a stop of automation needs to know. */
export const stopLoad = { ...onTheWire, works: workOfKinds([...skipped, ...cancelled]) }

export const automationHandlers: Handlers<typeof automation> = {
  async get(_, { read, networks }) {
    const { pause, overdue, lost, isForbidden, ...loaded } = await loadBy(read, {
      pause: pauseOf,
      ...overduePosts(lostAfterMs(sendTimes)),
      ...onTheWire,
    })
    const { now, held: hold, everywhere, ...state } = pause
    const isPaused = state.paused || everywhere !== null
    const held = hold && {
      ...hold,
      since: new Date(hold.since),
      as_of: hold.as_of && new Date(hold.as_of),
    }
    const serves = (network: string) => networks.named(network) !== undefined
    const by = { now, times: sendTimes, isForbidden, serves }
    const on_resuming = isPaused ? onResuming(overdue, lost, by) : null
    const stops = { ...state, held, paused_everywhere_since: everywhere }
    return { automation: { ...stops, on_resuming, in_flight: inFlight(loaded) } }
  },

  pauseAll: loading(
    () => ({ ...stopLoad, pause: pauseOf }),
    async (_, context, { pause, ...loaded }) => {
      const { automation, effects } = await stopAutomation(context, unattended, loaded)
      const takesOver = isByOperator(pause) && !isOperator(context.principal)
      const unchanged = context.gate.pausedHere && isIdle(effects) && !takesOver
      return { reply: { automation }, effects, unchanged }
    },
  ),

  // What the workspace has paused itself, the operator does not resume.
  resumeAll: loading(
    () => ({ ...onTheWire, crons: workOfKinds(['rule_cron']), pause: pauseOf }),
    async (_, context, { crons, pause, ...loaded }) => {
      const in_flight = inFlight(loaded)
      requireResumable(context)
      if (isOperator(context.principal) && !isByOperator(pause))
        return { reply: { automation: { paused: pause.paused, in_flight } }, unchanged: true }
      const automation = { paused: false, in_flight }
      const patterns = context.gate.pausedHere ? await resumeCronRules(context, crons) : {}
      return { reply: { automation }, effects: merge({ paused: false }, patterns) }
    },
  ),
}

/** People would believe that their posts go out again. */
const requireResumable = ({ gate: { pausedEverywhere }, principal }: CommandContext): void => {
  if (pausedEverywhere && !isOperator(principal))
    fail(
      'conflict',
      'the operator of this deployment has paused every workspace, so nothing can be resumed here until the operator ends that',
      { reason: 'paused_everywhere', at: pausedEverywhere },
    )
}

const isByOperator = ({ by }: { by: NamedAuthor | null }): boolean => by !== null && isOperator(by)

/** Whether a stop changed nothing. */
const isIdle = ({ writes = [], settled = [], requeued = [], events = [] }: Effects): boolean =>
  writes.length + settled.length + requeued.length + events.length === 0

/**
 * Kinds of work that a stop also reaches when a person requested them. It always reaches automatic
 * work.
 */
type Reach = readonly WorkKind[]

const unattended: Reach = []

/**
 * Pauses automation, recalls unsent posts and cancels generations. Returns what is still in flight.
 */
export const stopAutomation = async (
  context: CommandContext,
  reach: Reach,
  loaded: Loaded<typeof stopLoad>,
) => {
  const recalled = context.lanes.recall(
    ({ origin, kind }) => origin === 'automatic' || reach.includes(kind),
  )
  const settledAs = (how: KindOfWork['recalled']) =>
    recalled.filter(({ kind }) => kindsOfWork[kind].recalled === how)
  const held = await settleRecalled(context, settledAs('unsent'), { kind: 'unsent' })
  const reads = settledAs('requeued').map(({ id }) => ({ id, runAt: context.gate.now }))
  const generations = await cancelGenerations(context, loaded.works, reach)
  const runs = skipRuns(context, loaded.works)
  const called = settledAs('returned').map(({ ref_id }) => ref_id)
  const automation = {
    paused: true,
    in_flight: inFlight(loaded, new Set([...held.recordIds, ...called])),
  }
  return {
    automation,
    effects: merge({ paused: true, requeued: reads }, held.effects, runs, ...generations),
  }
}

/** Skips queued rule runs: a rule does not catch up after a pause. */
const skipRuns = ({ gate }: CommandContext, works: Work[]): Effects => {
  const runs = works.filter(({ kind }) => skipped.includes(kind))
  return runs.length === 0
    ? {}
    : { writes: [skipQueuedRuns(skips.paused, gate.now)], settled: runs.map(({ id }) => id) }
}

/** Cancels queued and running generations, and returns their quota. */
const cancelGenerations = async (
  { sql, gate }: CommandContext,
  works: Work[],
  reach: Reach,
): Promise<Effects[]> => {
  const effects: Effects[] = []
  for (const work of works.filter(({ kind }) => cancelled.includes(kind)))
    if (work.origin === 'automatic' || reach.includes(work.kind))
      effects.push(await unlessBroken(() => failWork(sql, 'cancelled', { now: gate.now, work })))
  return effects
}

/**
 * What may be on the wire, except what was just recalled: attempts and replies by their records,
 * and calls outside by their jobs.
 */
export const inFlight = (
  { attempts, calls, replies }: Loaded<typeof onTheWire>,
  recalled = new Set<string>(),
) => [
  ...attempts.filter(({ record_id }) => !recalled.has(record_id)).map(attemptInFlight),
  ...calls.filter(({ job_id }) => !recalled.has(job_id)),
  ...replies.filter(({ reply_id }) => !recalled.has(reply_id)),
]
